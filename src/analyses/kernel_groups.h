// Groups runs of kernels by whatever was requested.
// Owns its groups; the Trace must outlive it. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "analyses/kernel_runs.h"
#include "analyses/launch_sizes.h"
#include "base/bounded_sum.h"

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

  /// By total time; `all` is their sum.
  KernelSummary finish();

 private:
  static constexpr std::size_t kParts = 11;
  using Key = std::array<std::int64_t, kParts>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  /// A sum of values weighted by durations.
  struct WeightedSum {
    double sum = 0;
    double weight = 0;
    double plain = 0;
    std::uint64_t count = 0;
  };
  struct Sums {
    WideInteger total = 0;
    double us = 0;  // plugin figures
    WideInteger tensor_cores = 0;
    WideInteger delay = 0;
    WideInteger calls = 0;
    double squares = 0;
    WeightedSum blocks;
    WeightedSum occupancy;
  };

  const KernelNameFacts& facts(StringId name);
  Key key_of(const KernelRun& run);
  std::size_t group_of(const KernelRun& run);
  void describe(KernelGroup& group, const KernelRun& run);
  void add_run(KernelGroup& group, Sums& sums, const KernelRun& run);
  void add_weighted(WeightedSum& sum, const KernelRun& run, std::optional<double> value) const;
  void add_launch(KernelGroup& group, Sums& sums, const KernelRun& run);
  void count_launches(const std::vector<KernelRun>& runs);
  void finish_group(KernelGroup& group, const Sums& sums) const;
  std::optional<double> mean_of(const WeightedSum& sum, bool any_usable) const;
  void give_short_names();
  double mean_ns(const KernelGroup& group, const Sums& sums) const;

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
  std::vector<KernelGroup> groups_;
  std::vector<Sums> sums_;
  KernelGroup all_;
  Sums all_sums_;
};

}  // namespace tbtrace::analyses
