// Groups runs of kernels by whatever was requested.
// Owns its groups; the Trace must outlive it. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "analyses/kernel_runs.h"
#include "analyses/kernel_sums.h"
#include "analyses/launch_sizes.h"

namespace tbtrace::analyses {

/// What depends on the name alone.
struct KernelNameFacts {
  KernelFamily family = KernelFamily::other;
  bool tensor_cores = false;
};

class KernelGroups {
 public:
  KernelGroups(const Trace& trace, const KernelsOptions& options);

  /// Adds each run to the group that it belongs to. To be called once.
  void add(const std::vector<KernelRun>& runs);

  /// The groups in the order of their first kernels, with their sums.
  SummedKernels release() && { return std::move(kernels_); }

  /// By total time; `all` is their sum.
  KernelSummary finish() &&;

 private:
  static constexpr std::size_t kParts = 11;
  using Key = std::array<std::int64_t, kParts>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  /// The plugin's sums, in its doubles.
  struct PluginMean {
    double sum = 0;
    double weight = 0;
  };
  struct PluginSums {
    double us = 0;
    PluginMean blocks;
    PluginMean occupancy;
  };

  const KernelNameFacts& facts(StringId name);
  Key key_of(const KernelRun& run);
  std::size_t group_of(const KernelRun& run);
  void describe(KernelGroup& group, const KernelRun& run);
  void add_run(KernelSums& sums, const KernelRun& run);
  void add_plugin_run(PluginSums& sums, const KernelRun& run);
  void add_launch(KernelSums& sums, const KernelRun& run);
  void count_launches(const std::vector<KernelRun>& runs);
  void set_plugin_figures(KernelGroup& group, const PluginSums& sums) const;

  const Trace& trace_;
  const KernelsOptions options_;
  const ArgumentColumn& grid_;
  const ArgumentColumn& block_;
  const ArgumentColumn& registers_;
  const ArgumentColumn& shared_memory_;
  const ArgumentColumn& blocks_per_sm_;
  const ArgumentColumn& occupancy_;
  bool any_blocks_ = false;  // some kernel has a value that the plugin takes
  bool any_occupancy_ = false;

  std::unordered_map<StringId, KernelNameFacts> facts_;
  std::unordered_map<Key, std::size_t, KeyHash> numbers_;
  std::vector<std::uint32_t> group_of_run_;
  std::optional<LaunchSizes> launch_sizes_;  // exact figures only: others know no launches
  SummedKernels kernels_;
  std::vector<PluginSums> plugin_;  // by group; plugin figures only
  PluginSums plugin_all_;
};

}  // namespace tbtrace::analyses
