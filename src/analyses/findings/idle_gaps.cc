#include "analyses/findings/idle_gaps.h"

#include <algorithm>
#include <functional>

#include "analyses/findings/event_text.h"
#include "analyses/gpu/host_ranges.h"
#include "trace/call_tree.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

/// The thread that launched what ended a gap; without a launch, the one of the first operator.
TrackId launching_thread(const Trace& trace, const DeviceLink& ended_by) {
  if (ended_by.launch != EventId::none) return trace.events().track(ended_by.launch);
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::cpu_op) return trace.events().track(event);
  }
  return trace.events().track(ended_by.activity);
}

/// The range and, if it is none itself, the Python function around it.
std::string described(const Trace& trace, EventId range) {
  if (range == EventId::none || is_step_name(trace.name(range))) return {};
  std::string text = name_text(trace.name(range));
  const CallTree& tree = call_tree_of(trace);
  for (EventId around = range; around != EventId::none; around = tree.parent(around)) {
    if (!trace.events().is_python_frame(around) || trace.events().is_module(around)) continue;
    if (around != range) text += " in " + name_text(trace.name(around));
    break;
  }
  return text;
}

}  // namespace

std::vector<IdleGap> longest_gaps(const Trace& trace, std::span<const DeviceGap> gaps,
                                  std::size_t most) {
  const auto length = [](const DeviceGap& gap) { return gap.time.end - gap.time.start; };
  std::vector<DeviceGap> longest;
  for (const DeviceGap& gap : gaps) {
    if (gap.ended_by.activity != EventId::none) longest.push_back(gap);
  }
  std::ranges::stable_sort(longest, std::ranges::greater(), length);
  longest.resize(std::min(longest.size(), most), DeviceGap());
  std::ranges::sort(longest, {}, [](const DeviceGap& gap) { return gap.time.start; });
  std::vector<ThreadTime> times;
  times.reserve(longest.size());
  for (const DeviceGap& gap : longest) {
    times.push_back({launching_thread(trace, gap.ended_by), gap.time});
  }
  const std::vector<HostTime> hosts = host_times(trace, times);
  std::vector<IdleGap> described_gaps;
  for (std::size_t gap = 0; gap < longest.size(); ++gap) {
    described_gaps.push_back(
        {longest[gap].time, longest[gap].ended_by.activity, described(trace, hosts[gap].range)});
  }
  std::ranges::stable_sort(described_gaps, std::ranges::greater(),
                           [](const IdleGap& gap) { return gap.time.end - gap.time.start; });
  return described_gaps;
}

}  // namespace tbtrace::analyses
