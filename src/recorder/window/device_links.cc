#include "recorder/window/device_links.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/id_map.h"
#include "recorder/log/record.h"

namespace tbtrace::recorder {

namespace {

/// Ranges that are open at a time, of those that are handed in by start. They need not nest.
class Innermost {
 public:
  explicit Innermost(const Ranges& ranges) : ranges_(ranges) {}

  void begin(std::uint32_t row) { open_.push_back(row); }
  /// The latest started one that has not ended before `ticks`, which may not go back.
  std::uint32_t at(std::uint64_t ticks) {
    while (!open_.empty() && ranges_[open_.back()].end_ticks < ticks) open_.pop_back();
    return open_.empty() ? DeviceLinks::kNone : open_.back();
  }

 private:
  const Ranges& ranges_;
  std::vector<std::uint32_t> open_;
};

using Rows = std::vector<std::uint32_t>;

/// Of a thread, by start.
struct OfThread {
  Rows ranges;
  Rows calls;
};

std::unordered_map<std::uint32_t, OfThread> by_thread(const Window& window,
                                                      const DeviceTrace& trace) {
  std::unordered_map<std::uint32_t, OfThread> threads;
  for (std::uint32_t row = 0; row < trace.calls.size(); ++row) {
    threads[trace.calls[row].thread].calls.push_back(row);
  }
  const auto& logs = window.recording().logs();
  const Ranges& ranges = window.ranges();
  for (std::uint32_t row = 0; row < ranges.size(); ++row) {
    // Its end says nothing of the thread on which it began. Those of NCCL end where they began.
    if (ranges[row].ends_elsewhere) continue;
    const std::int64_t thread = logs[ranges[row].log]->identity().system_id;
    const auto found = threads.find(static_cast<std::uint32_t>(thread));
    if (found != threads.end()) found->second.ranges.push_back(row);
  }
  return threads;
}

void link_calls(const Window& window, const DeviceTrace& trace, DeviceLinks& links) {
  links.call_operator.assign(trace.calls.size(), DeviceLinks::kNone);
  links.call_annotation.assign(trace.calls.size(), DeviceLinks::kNone);
  for (auto& [id, thread] : by_thread(window, trace)) {
    std::stable_sort(thread.calls.begin(), thread.calls.end(), [&](auto a, auto b) {
      return trace.calls[a].start_ticks < trace.calls[b].start_ticks;
    });
    Innermost operators(window.ranges());
    Innermost annotations(window.ranges());
    auto next = thread.ranges.begin();
    for (const std::uint32_t call : thread.calls) {
      const std::uint64_t ticks = trace.calls[call].start_ticks;
      for (; next != thread.ranges.end() && window.ranges()[*next].start_ticks <= ticks; ++next) {
        const Scope scope = begin_record(window.ranges()[*next].record).scope;
        if (scope == Scope::module) continue;  // a frame, and no operator
        (scope == Scope::user ? annotations : operators).begin(*next);
      }
      links.call_operator[call] = operators.at(ticks);
      links.call_annotation[call] = annotations.at(ticks);
    }
  }
}

void find_annotations(const DeviceTrace& trace, DeviceLinks& links) {
  using Annotation = DeviceLinks::Annotation;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Annotation> found;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const std::uint32_t call = links.activity_call[row];
    if (call == DeviceLinks::kNone) continue;
    const std::uint32_t range = links.call_annotation[call];
    if (range == DeviceLinks::kNone) continue;
    const DeviceActivity activity = trace.activities[row];
    const auto [place, is_new] =
        found.try_emplace({range, activity.place.device, activity.place.stream},
                          Annotation{.range = range,
                                     .device = activity.place.device,
                                     .stream = activity.place.stream,
                                     .start_ticks = activity.start_ticks,
                                     .end_ticks = activity.end_ticks});
    Annotation& annotation = place->second;
    annotation.start_ticks = std::min(annotation.start_ticks, activity.start_ticks);
    annotation.end_ticks = std::max(annotation.end_ticks, activity.end_ticks);
  }
  for (const auto& [key, annotation] : found) links.annotations.push_back(annotation);
  std::stable_sort(
      links.annotations.begin(), links.annotations.end(),
      [](const Annotation& a, const Annotation& b) { return a.start_ticks < b.start_ticks; });
}

/// What the driver was told is when the innermost operator began, on the call's own thread.
void check(const Window& window, const DeviceTrace& trace, const IdMap& calls, DeviceLinks& links) {
  for (const DeviceCheck& told : trace.checks) {
    const std::uint32_t call = calls.find(told.correlation);
    if (call == IdMap::kNone) continue;
    ++links.checked;
    const std::uint32_t range = links.call_operator[call];
    const bool is_same =
        range != DeviceLinks::kNone && window.ranges()[range].start_ticks == told.begin_ticks;
    if (!is_same) ++links.different;
  }
}

}  // namespace

DeviceLinks link_device_trace(const Window& window, const DeviceTrace& trace) {
  DeviceLinks links;
  link_calls(window, trace, links);
  IdMap calls(trace.calls.size());
  for (std::uint32_t row = 0; row < trace.calls.size(); ++row) {
    calls.replace(trace.calls[row].correlation, row);
  }
  links.activity_call.reserve(trace.activities.size());
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const std::uint32_t call = calls.find(trace.activities.correlation(row));
    links.activity_call.push_back(call == IdMap::kNone ? DeviceLinks::kNone : call);
  }
  find_annotations(trace, links);
  check(window, trace, calls, links);
  return links;
}

}  // namespace tbtrace::recorder
