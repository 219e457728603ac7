#include "analyses/timeline/tracks.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "analyses/timeline/marks.h"
#include "base/natural_order.h"
#include "trace/event_batch.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {
namespace {

struct TrackUse {
  std::size_t ranges = 0;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  bool has_host = false;
  bool has_device = false;
};

std::vector<TrackUse> uses_of(const Trace& trace) {
  const Events& events = trace.events();
  std::vector<TrackUse> uses(trace.tracks().size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    TrackUse& use = uses[index(events.track(event))];
    const EventKind kind = trace.kind(event);
    ++use.ranges;
    use.first_ns = std::min(use.first_ns, events.start_ns(event));
    if (kind >= EventKind::kernel && kind <= EventKind::gpu_user_annotation) {
      use.has_device = true;
    } else if (kind != EventKind::trace_span) {
      use.has_host = true;
    }
  }
  return uses;
}

TimelineTrackKind kind_of(const TrackUse& use) {
  if (use.has_host) return TimelineTrackKind::thread;
  return use.has_device ? TimelineTrackKind::stream : TimelineTrackKind::other;
}

/// `python (4711)`.
std::string process_name(const Trace& trace, const Track& track) {
  const std::string id = key_text(trace, track.process);
  const std::string_view name = trimmed(trace.string(track.process_name));
  const bool is_number = track.process.text == StringId::empty;
  if (name.empty() || name == id) return is_number ? "process " + id : id;
  if (name.find(id) != std::string_view::npos) return std::string(name);
  return std::string(name) + " (" + id + ")";
}

/// Threads that only have instants, in the order of the file. More than a few hundred would be no
/// picture.
void add_tracks_of_instants(const Trace& trace, std::vector<TimelineTrack>& tracks) {
  constexpr std::size_t kMost = 500;
  std::unordered_set<EventBatch::Track, EventBatch::TrackHash> known;
  for (const TimelineTrack& track : tracks) known.insert({track.process_key, track.thread_key});
  std::size_t added = 0;
  for (const Instant& instant : instants_of(trace)) {
    if (added == kMost) break;
    if (is_of_recording(trace, instant.name)) continue;
    if (!known.insert({instant.process, instant.thread}).second) continue;
    ++added;
    Track track{.process = instant.process, .thread = instant.thread};
    const auto named = std::ranges::find_if(trace.tracks(), [&](const Track& each) {
      return each.process == track.process && each.thread == track.thread;
    });
    if (named != trace.tracks().end()) track = *named;
    TimelineTrack& own = tracks.emplace_back();
    own.process_key = instant.process;
    own.thread_key = instant.thread;
    own.name = track_label(trace, track, "thread");
    own.process = process_label(trace, instant.process);
  }
}

}  // namespace

std::vector<TimelineTrack> timeline_tracks(const Trace& trace) {
  const std::vector<TrackUse> uses = uses_of(trace);
  std::vector<TimelineTrack> tracks;
  std::map<std::string, std::int64_t> process_first_ns;
  for (std::size_t number = 0; number < uses.size(); ++number) {
    const TrackUse& use = uses[number];
    if (use.ranges == 0) continue;
    const Track& track = trace.tracks()[number];
    TimelineTrack& added = tracks.emplace_back();
    added.id = static_cast<TrackId>(number);
    added.process_key = track.process;
    added.thread_key = track.thread;
    added.kind = kind_of(use);
    added.ranges = use.ranges;
    if (added.kind == TimelineTrackKind::stream) {
      added.device = device_number(track);
      added.name = track_label(trace, track, "stream");
      added.process = "GPU " + std::to_string(*added.device);
      continue;
    }
    added.name = track_label(trace, track, "thread");
    added.process = process_name(trace, track);
    const auto [place, is_new] = process_first_ns.try_emplace(added.process, use.first_ns);
    if (!is_new) place->second = std::min(place->second, use.first_ns);
  }
  std::size_t most_ranges = 0;
  for (const TimelineTrack& track : tracks) {
    if (track.kind == TimelineTrackKind::thread) {
      most_ranges = std::max(most_ranges, track.ranges);
    }
  }
  // Streams first: they say how the device was used. Threads that hardly did anything come last.
  const auto group = [&](const TimelineTrack& of) {
    if (of.kind == TimelineTrackKind::stream) return 0;
    if (of.kind == TimelineTrackKind::other) return 3;
    return of.ranges * 100 < most_ranges ? 2 : 1;
  };
  const auto is_earlier = [&](const TimelineTrack& one, const TimelineTrack& other) {
    if (group(one) != group(other)) return group(one) < group(other);
    if (one.kind == TimelineTrackKind::stream) {
      if (one.device != other.device) return one.device < other.device;
      return in_natural_order(one.name, other.name);
    }
    const auto place = [&](const TimelineTrack& of) {
      const Track& track = trace.track(of.id);
      const bool is_main = track.thread == track.process;  // as Linux numbers them
      return std::tuple(process_first_ns.at(of.process), of.process, !is_main,
                        uses[index(of.id)].first_ns);
    };
    return place(one) < place(other);
  };
  std::stable_sort(tracks.begin(), tracks.end(), is_earlier);
  add_tracks_of_instants(trace, tracks);
  return tracks;
}

std::string process_label(const Trace& trace, const TrackKey& process) {
  const auto named = std::ranges::find(trace.tracks(), process, &Track::process);
  return process_name(
      trace, named == trace.tracks().end() ? Track{.process = process, .thread = {}} : *named);
}

}  // namespace tbtrace::analyses
