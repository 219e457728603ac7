// Groups runs of kernels by whatever was requested, and adds up each group.
// Owns its groups; the Trace must outlive it. Not synchronised.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "analyses/kernels/keys.h"
#include "analyses/kernels/launched_activities.h"
#include "analyses/kernels/runs.h"
#include "analyses/kernels/sums.h"

namespace tbtrace::analyses {

class KernelGroups {
 public:
  KernelGroups(const Trace& trace, const KernelsOptions& options);

  /// Adds each run to the group that it belongs to. To be called once.
  void add(const std::vector<KernelRun>& runs);

  /// The groups in the order of their first kernels, with their sums.
  SummedKernels release() &&;

 private:
  void add_run(KernelSums& sums, const KernelRun& run);
  void add_launch(KernelSums& sums, const KernelRun& run);
  void count_launches(const std::vector<KernelRun>& runs);

  const Trace& trace_;
  const ArgumentColumn& blocks_per_sm_;
  const ArgumentColumn& occupancy_;
  const LaunchedActivities launched_activities_;
  KernelKeys keys_;
  std::vector<std::uint32_t> group_of_run_;
  std::vector<KernelSums> sums_;  // by group
  KernelSums all_;
};

}  // namespace tbtrace::analyses
