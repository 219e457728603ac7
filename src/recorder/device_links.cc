#include "recorder/device_links.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/id_map.h"
#include "recorder/record.h"

namespace tbtrace::recorder {

namespace {

/// Ranges that are open at a time, of those that are handed in by start. They need not nest.
class Innermost {
 public:
  explicit Innermost(std::span<const Window::Range> ranges) : ranges_(ranges) {}

  void begin(std::uint32_t row) { open_.push_back(row); }
  /// The latest started one that has not ended before `ticks`, which may not go back.
  std::uint32_t at(std::uint64_t ticks) {
    while (!open_.empty() && ranges_[open_.back()].end_ticks < ticks) open_.pop_back();
    return open_.empty() ? DeviceLinks::kNone : open_.back();
  }

 private:
  std::span<const Window::Range> ranges_;
  std::vector<std::uint32_t> open_;
};

using Rows = std::vector<std::uint32_t>;

/// Of a thread, by start.
struct OfThread {
  Rows ranges;
  Rows calls;
};

std::unordered_map<std::uint32_t, OfThread> by_thread(const Window& window,
                                                      const DeviceActivity& activity) {
  std::unordered_map<std::uint32_t, OfThread> threads;
  for (std::uint32_t row = 0; row < activity.calls.size(); ++row) {
    threads[activity.calls[row].thread].calls.push_back(row);
  }
  const auto& logs = window.recording().logs();
  const auto ranges = window.ranges();
  for (std::uint32_t row = 0; row < ranges.size(); ++row) {
    // Its end says nothing of the thread on which it began. Those of NCCL end where they began.
    if (ranges[row].ends_elsewhere) continue;
    const std::int64_t thread = logs[ranges[row].log]->identity().system_id;
    const auto found = threads.find(static_cast<std::uint32_t>(thread));
    if (found != threads.end()) found->second.ranges.push_back(row);
  }
  return threads;
}

void link_calls(const Window& window, const DeviceActivity& activity, DeviceLinks& links) {
  links.call_operator.assign(activity.calls.size(), DeviceLinks::kNone);
  links.call_annotation.assign(activity.calls.size(), DeviceLinks::kNone);
  for (auto& [id, thread] : by_thread(window, activity)) {
    std::stable_sort(thread.calls.begin(), thread.calls.end(), [&](auto a, auto b) {
      return activity.calls[a].start_ticks < activity.calls[b].start_ticks;
    });
    Innermost operators(window.ranges());
    Innermost annotations(window.ranges());
    auto next = thread.ranges.begin();
    for (const std::uint32_t call : thread.calls) {
      const std::uint64_t ticks = activity.calls[call].start_ticks;
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

void find_annotations(const DeviceActivity& activity, DeviceLinks& links) {
  using Annotation = DeviceLinks::Annotation;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Annotation> found;
  for (std::size_t row = 0; row < activity.works.size(); ++row) {
    const std::uint32_t call = links.work_call[row];
    if (call == DeviceLinks::kNone) continue;
    const std::uint32_t range = links.call_annotation[call];
    if (range == DeviceLinks::kNone) continue;
    const DeviceWork work = activity.works[row];
    const auto [place, is_new] = found.try_emplace({range, work.place.device, work.place.stream},
                                                   Annotation{.range = range,
                                                              .device = work.place.device,
                                                              .stream = work.place.stream,
                                                              .start_ticks = work.start_ticks,
                                                              .end_ticks = work.end_ticks});
    Annotation& annotation = place->second;
    annotation.start_ticks = std::min(annotation.start_ticks, work.start_ticks);
    annotation.end_ticks = std::max(annotation.end_ticks, work.end_ticks);
  }
  for (const auto& [key, annotation] : found) links.annotations.push_back(annotation);
  std::stable_sort(
      links.annotations.begin(), links.annotations.end(),
      [](const Annotation& a, const Annotation& b) { return a.start_ticks < b.start_ticks; });
}

/// What the driver was told is when the innermost operator began, on the call's own thread.
void check(const Window& window, const DeviceActivity& activity, const IdMap& calls,
           DeviceLinks& links) {
  for (const DeviceCheck& told : activity.checks) {
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

DeviceLinks link_device_activity(const Window& window, const DeviceActivity& activity) {
  DeviceLinks links;
  link_calls(window, activity, links);
  IdMap calls(activity.calls.size());
  for (std::uint32_t row = 0; row < activity.calls.size(); ++row) {
    calls.replace(activity.calls[row].correlation, row);
  }
  links.work_call.reserve(activity.works.size());
  for (std::size_t row = 0; row < activity.works.size(); ++row) {
    const std::uint32_t call = calls.find(activity.works.correlation(row));
    links.work_call.push_back(call == IdMap::kNone ? DeviceLinks::kNone : call);
  }
  find_annotations(activity, links);
  check(window, activity, calls, links);
  return links;
}

}  // namespace tbtrace::recorder
