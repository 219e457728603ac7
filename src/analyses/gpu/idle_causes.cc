#include "analyses/gpu/idle_causes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/id_map.h"
#include "base/time_ranges.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

/// Calls after which the host goes on when the device has caught up.
constexpr std::array<std::string_view, 6> kWaits = {"cudaStreamSynchronize", "cuStreamSynchronize",
                                                    "hipStreamSynchronize",  "cudaEventSynchronize",
                                                    "cuEventSynchronize",    "hipEventSynchronize"};

/// Parts of the names of CUDA's and HIP's calls that a program or a library makes once: they create
/// streams and contexts, and load code.
constexpr std::array<std::string_view, 9> kSetup = {"StreamCreate", "ModuleLoad",   "LibraryLoad",
                                                    "LinkCreate",   "LinkComplete", "LinkAddData",
                                                    "CtxCreate",    "CtxRetain",    "cuInit"};

bool is_setup(std::string_view call) {
  return std::ranges::any_of(
      kSetup, [&](std::string_view part) { return call.find(part) != std::string_view::npos; });
}

class IdleSearch {
 public:
  IdleSearch(const Trace& trace, const StepRules& rules) : trace_(trace), events_(trace.events()) {
    find_copies();
    find_host_ranges(rules);
  }

  std::vector<IdleTimes> run(std::span<const DeviceGap> gaps) const {
    const RangeLengths data(data_);
    const RangeLengths setup(setup_);
    const RangeLengths busy(busy_);
    std::vector<IdleTimes> all;
    all.reserve(gaps.size());
    for (const DeviceGap& gap : gaps) {
      IdleTimes times;
      times.data = data.within(gap.time);
      times.setup = setup.within(gap.time);  // without data
      const std::int64_t rest = gap.time.end - gap.time.start - times.data - times.setup;
      if (began_in_wait(gap.time)) {
        times.copies = rest;
      } else if (gap.ended_by.launch == EventId::none) {
        times.other = rest;
      } else if (events_.start_ns(gap.ended_by.launch) < gap.time.start) {
        times.device = rest;
      } else {
        times.launches = busy.within(gap.time);  // without the two
        times.other = rest - times.launches;
      }
      all.push_back(times);
    }
    return all;
  }

  std::uint64_t blocking_copies() const { return blocking_copies_; }

 private:
  /// Calls during which the host waited for a memcpy: those that ended after their own memcpy, and
  /// the waits of an operator that launched one.
  void find_copies() {
    IdMap copying_operators;
    std::vector<TimeRange> waits;
    for (const DeviceLink& link : links_of(trace_).placed_work()) {
      if (link.launch == EventId::none) continue;
      if (trace_.kind(link.activity) != EventKind::gpu_memcpy) continue;
      // The host does not wait for copies on a device; short ones end before their call returns.
      if (trace_.name(link.activity).find("DtoD") != std::string_view::npos) continue;
      const EventId around = call_tree_of(trace_).parent(link.launch);
      if (around != EventId::none) {
        copying_operators.insert(static_cast<std::int64_t>(index(around)), 0);
      }
      if (events_.end_ns(link.launch) < events_.end_ns(link.activity)) continue;
      waits.push_back({events_.start_ns(link.launch), events_.end_ns(link.launch)});
    }
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::runtime) continue;
      const bool waits_for_stream =
          std::find(kWaits.begin(), kWaits.end(), trace_.name(event)) != kWaits.end();
      if (!waits_for_stream) continue;
      const EventId around = call_tree_of(trace_).parent(event);
      const bool after_copy =
          around != EventId::none &&
          copying_operators.find(static_cast<std::int64_t>(index(around))) != IdMap::kNone;
      if (after_copy) waits.push_back({events_.start_ns(event), events_.end_ns(event)});
    }
    blocking_copies_ = waits.size();
    std::sort(waits.begin(), waits.end(),
              [](const TimeRange& one, const TimeRange& two) { return one.start < two.start; });
    for (const TimeRange& wait : waits) add_range(waits_, wait);
  }

  void find_host_ranges(const StepRules& rules) {
    std::vector<TimeRange> busy;
    std::vector<TimeRange> setup;
    for (const EventId event : trace_.by_start()) {
      if (!is_host_range(trace_.kind(event))) continue;
      const TimeRange time = {events_.start_ns(event), events_.end_ns(event)};
      const EventKind kind = trace_.kind(event);
      if (rules.role(event) == StepRole::data_loader) {
        add_range(data_, time);
      } else if (kind == EventKind::runtime && is_setup(trace_.name(event))) {
        add_range(setup, time);
      } else if (kind == EventKind::cpu_op || kind == EventKind::runtime) {
        add_range(busy, time);
      }
    }
    setup_ = difference(setup, data_);
    busy_ = difference(difference(busy, data_), setup_);
  }

  /// Whether the host was in a wait when the gap began, and went on in the gap.
  bool began_in_wait(TimeRange gap) const {
    const auto after =
        std::partition_point(waits_.begin(), waits_.end(),
                             [&](const TimeRange& wait) { return wait.start <= gap.start; });
    if (after == waits_.begin()) return false;
    const TimeRange& wait = *(after - 1);
    return wait.end >= gap.start && wait.end <= gap.end;
  }

  const Trace& trace_;
  const Events& events_;
  std::vector<TimeRange> waits_;
  std::uint64_t blocking_copies_ = 0;
  std::vector<TimeRange> data_;
  std::vector<TimeRange> setup_;
  std::vector<TimeRange> busy_;
};

void add(IdlePart& part, std::int64_t ns, const DeviceGap& gap) {
  if (ns == 0) return;
  part.ns += ns;
  ++part.gaps;
  if (ns <= part.longest_ns) return;
  part.longest_ns = ns;
  part.longest_gap = gap.time;
  part.ended_by = gap.ended_by.activity;
}

}  // namespace

std::vector<IdleTimes> idle_times(const Trace& trace, const StepRules& rules,
                                  std::span<const DeviceGap> gaps) {
  return IdleSearch(trace, rules).run(gaps);
}

IdleCauses idle_causes(const Trace& trace, const StepRules& rules,
                       std::span<const DeviceGap> gaps) {
  const IdleSearch search(trace, rules);
  const std::vector<IdleTimes> times = search.run(gaps);
  IdleCauses causes;
  for (std::size_t gap = 0; gap < gaps.size(); ++gap) {
    add(causes.data, times[gap].data, gaps[gap]);
    add(causes.setup, times[gap].setup, gaps[gap]);
    add(causes.copies, times[gap].copies, gaps[gap]);
    add(causes.launches, times[gap].launches, gaps[gap]);
    add(causes.device, times[gap].device, gaps[gap]);
    add(causes.other, times[gap].other, gaps[gap]);
  }
  causes.blocking_copies = search.blocking_copies();
  return causes;
}

}  // namespace tbtrace::analyses
