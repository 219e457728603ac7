// Which group each kernel of a summary belongs to, and what the kernels of a group have in common.
// Owns its groups; the Trace must outlive it. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/graph_labels.h"
#include "analyses/grouping/keys.h"
#include "analyses/kernels/runs.h"

namespace tbtrace::analyses {

/// What depends on the name alone.
struct KernelNameFacts {
  KernelFamily family = KernelFamily::other;
  std::optional<bool> tensor_cores;
};

/// In what definitions of the groups differ.
struct KernelKeyRules {
  std::optional<bool> (*uses_tensor_cores)(std::string_view name);  ///< nullopt: unknown
  std::string_view unknown_operator;  ///< the name of the operator of kernels without one
  std::int64_t missing;               ///< stands for a number that was not recorded
  /// By EventId, the kernels whose family is `collective` whatever their name; null: none.
  std::vector<bool> (*communication)(const Trace& trace);
};

/// Unknown operators are `[unattributed]`; a number that was not recorded equals no other.
const KernelKeyRules& exact_kernel_keys();

class KernelKeys {
 public:
  KernelKeys(const Trace& trace, const KernelsOptions& options, const KernelKeyRules& rules);

  /// The number of a run's group; a new one is the next.
  std::size_t group_of(const KernelRun& run);

  const KernelNameFacts& facts(EventId kernel) { return facts(trace_.events().name(kernel)); }

  /// Why some kernels have no value of what they are grouped by.
  std::vector<std::string> notes() const { return by_.notes("kernels"); }

  /// The groups in the order of their first kernels, without sums.
  std::vector<KernelGroup> release() && { return std::move(groups_); }

 private:
  static constexpr std::size_t kParts = 14;
  using Key = std::array<std::int64_t, kParts>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  const KernelNameFacts& facts(StringId name);
  bool is_communication(EventId kernel) const;
  KernelFamily family(const KernelRun& run);
  Key key_of(const KernelRun& run);
  void describe(KernelGroup& group, const KernelRun& run, const Key& key);

  const Trace& trace_;
  const KernelsOptions options_;
  const KernelKeyRules& rules_;
  const std::vector<bool> communication_;  // empty: none
  const ArgumentColumn& grid_;
  const ArgumentColumn& block_;
  const ArgumentColumn& registers_;
  const ArgumentColumn& shared_memory_;
  const GraphLabels labels_;
  GroupKeys by_;

  std::unordered_map<StringId, KernelNameFacts> facts_;
  std::unordered_map<std::string_view, std::int64_t> label_numbers_;
  std::unordered_map<Key, std::size_t, KeyHash> numbers_;
  std::vector<KernelGroup> groups_;
};

}  // namespace tbtrace::analyses
