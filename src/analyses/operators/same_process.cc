// Whether recordings may be joined as torch joins those of one profiler.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/operators.h>

namespace tbtrace {

namespace {

/// A process has one profiler, so two of its windows do not overlap but for activities that a
/// device finished late. Equal windows are those of one recording.
bool is_same_time(const TraceIdentity& one, const TraceIdentity& other) {
  if (!one.start_ns || !one.end_ns || !other.start_ns || !other.end_ns) return false;
  if (one.start_ns == other.start_ns && one.end_ns == other.end_ns) return false;
  const std::int64_t start = std::max(*one.start_ns, *other.start_ns);
  const std::int64_t end = std::min(*one.end_ns, *other.end_ns);
  const std::int64_t shorter =
      std::min(*one.end_ns - *one.start_ns, *other.end_ns - *other.start_ns);
  return end > start && end - start > shorter / 2;
}

}  // namespace

std::string_view what_differs(const TraceIdentity& one, const TraceIdentity& other) {
  if (one.rank != other.rank) return "ranks";
  if (one.host != other.host) return "hosts";
  if (one.process != other.process) return "processes";
  // The same process id, on several hosts that the files do not name or in several containers.
  if (is_same_time(one, other)) return "processes (they were recorded at the same time)";
  return {};
}

std::size_t count_processes(std::span<const TraceIdentity> recordings) {
  // Per process, the recording that ends last.
  std::vector<TraceIdentity> processes;
  std::vector<TraceIdentity> ordered(recordings.begin(), recordings.end());
  std::ranges::stable_sort(ordered, {}, &TraceIdentity::start_ns);
  for (TraceIdentity& recording : ordered) {
    const auto same = std::ranges::find_if(processes, [&](const TraceIdentity& process) {
      return what_differs(process, recording).empty();
    });
    if (same == processes.end()) {
      processes.push_back(std::move(recording));
    } else if (same->end_ns < recording.end_ns) {
      *same = std::move(recording);
    }
  }
  return processes.size();
}

Status check_same_process(std::span<const Trace* const> traces) {
  if (traces.size() < 2) return {};
  std::vector<TraceIdentity> before = {traces.front()->identity()};
  for (std::size_t number = 1; number < traces.size(); ++number) {
    TraceIdentity other = traces[number]->identity();
    for (std::size_t earlier = 0; earlier < before.size(); ++earlier) {
      const std::string_view what = what_differs(before[earlier], other);
      if (what.empty()) continue;
      return {StatusCode::invalid_argument,
              "recordings " + std::to_string(earlier + 1) + " and " + std::to_string(number + 1) +
                  " are of different " + std::string(what) +
                  ", so they cannot be summarised together; exact figures can be added up"};
    }
    before.push_back(std::move(other));
  }
  return {};
}

}  // namespace tbtrace
