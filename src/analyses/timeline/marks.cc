#include "analyses/timeline/marks.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/event_batch.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kMostMarks = 10'000;

}  // namespace

bool is_of_recording(const Trace& trace, StringId instant_name) {
  const std::string_view name = trace.string(instant_name);
  return name == "Record Window End" || name.starts_with("Iteration Start: PyTorch Profiler");
}

TimelineMarks timeline_marks(const Trace& trace, const std::vector<TimelineTrack>& tracks,
                             std::int64_t from_ns, std::int64_t to_ns) {
  std::unordered_map<EventBatch::Track, std::uint32_t, EventBatch::TrackHash> numbers;
  for (const TimelineTrack& track : tracks) {
    numbers.try_emplace({track.process_key, track.thread_key},
                        static_cast<std::uint32_t>(numbers.size()));
  }
  struct Found {
    std::uint32_t track;
    std::int64_t time_ns;
    const Instant* instant;
  };
  std::vector<Found> found;
  for (const Instant& instant : instants_of(trace)) {
    const auto place = numbers.find({instant.process, instant.thread});
    if (place == numbers.end() || is_of_recording(trace, instant.name)) continue;
    const std::int64_t time_ns = since_start(trace, instant.time_ns);
    if (time_ns >= from_ns && time_ns < to_ns) found.push_back({place->second, time_ns, &instant});
  }
  std::ranges::stable_sort(found, {},
                           [](const Found& of) { return std::pair(of.track, of.time_ns); });
  TimelineMarks made;
  const std::size_t count = std::min(found.size(), kMostMarks);
  made.left_out = found.size() - count;
  for (std::size_t at = 0; at < count; ++at) {
    const Found& mark = found[at * found.size() / count];
    made.marks.push_back({mark.time_ns, mark.track, std::string(trace.string(mark.instant->name)),
                          std::string(trace.string(mark.instant->arguments))});
  }
  return made;
}

}  // namespace tbtrace::analyses
