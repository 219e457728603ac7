#include "analyses/kernels/groups.h"

#include <algorithm>
#include <utility>

#include "base/bounded_sum.h"

namespace tbtrace::analyses {

KernelGroups::KernelGroups(const Trace& trace, const KernelsOptions& options)
    : trace_(trace),
      blocks_per_sm_(trace.argument(Argument::blocks_per_sm)),
      occupancy_(trace.argument(Argument::occupancy)),
      launched_activities_(trace),
      keys_(trace, options, exact_kernel_keys()) {}

void KernelGroups::add(const std::vector<KernelRun>& runs) {
  group_of_run_.reserve(runs.size());
  for (const KernelRun& run : runs) {
    const std::size_t group = keys_.group_of(run);
    group_of_run_.push_back(static_cast<std::uint32_t>(group));
    if (group == sums_.size()) sums_.emplace_back();
    add_run(sums_[group], run);
    add_run(all_, run);
  }
  count_launches(runs);
}

void KernelGroups::add_run(KernelSums& sums, const KernelRun& run) {
  sums.add_duration(run.duration_ns);
  if (keys_.facts(run.event).tensor_cores.value_or(false)) sums.tensor_core_ns += run.duration_ns;
  if (const auto blocks = blocks_per_sm_.real(run.event)) {
    sums.blocks_per_sm.add(*blocks, run.duration_ns);
  }
  if (const auto occupancy = occupancy_.real(run.event)) {
    sums.occupancy.add(*occupancy, run.duration_ns);
  }
  add_launch(sums, run);
}

void KernelGroups::add_launch(KernelSums& sums, const KernelRun& run) {
  if (run.launch == EventId::none) {
    ++sums.without_launch;
    return;
  }
  const WideInteger delay = links_of(trace_).is_misplaced(run.event)
                                ? 0
                                : launch_delay(trace_.events(), run.event, run.launch);
  sums.launch_delay_total_ns += delay;
  sums.launch_delay_max_ns = std::max(sums.launch_delay_max_ns, bounded(delay));
  if (launched_activities_.is_short(run.event, run.launch)) ++sums.short_kernels;
}

/// Each launch counts once in each group, and once in all.
void KernelGroups::count_launches(const std::vector<KernelRun>& runs) {
  std::vector<std::pair<EventId, std::uint32_t>> launches;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (runs[run].launch != EventId::none) {
      launches.emplace_back(runs[run].launch, group_of_run_[run]);
    }
  }
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  EventId previous = EventId::none;
  for (const auto& [launch, group] : launches) {
    const std::int64_t ns = trace_.events().duration_ns(launch);
    ++sums_[group].launches;
    sums_[group].launch_call_ns += ns;
    if (launch == previous) continue;
    previous = launch;
    ++all_.launches;
    all_.launch_call_ns += ns;
  }
}

SummedKernels KernelGroups::release() && {
  std::vector<std::string> notes = keys_.notes();
  return {std::move(keys_).release(), std::move(sums_), std::move(all_), std::move(notes)};
}

}  // namespace tbtrace::analyses
