#include "analyses/kernels/keys.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "analyses/attribution/communication.h"
#include "analyses/kernels/families.h"
#include "analyses/kernels/grouping.h"
#include "analyses/kernels/sums.h"
#include "base/hash.h"

namespace tbtrace::analyses {

const KernelKeyRules& exact_kernel_keys() {
  static constexpr KernelKeyRules kExact = {.uses_tensor_cores = uses_tensor_cores,
                                            .unknown_operator = "[unattributed]",
                                            .missing = -1,
                                            .communication = communication_work};
  return kExact;
}

std::size_t KernelKeys::KeyHash::operator()(const Key& key) const {
  std::array<char, sizeof(Key)> bytes;
  std::memcpy(bytes.data(), key.data(), bytes.size());
  return hash_bytes({bytes.data(), bytes.size()}, kProcessSeed.value);
}

KernelKeys::KernelKeys(const Trace& trace, const KernelsOptions& options,
                       const KernelKeyRules& rules)
    : trace_(trace),
      options_(options),
      rules_(rules),
      communication_(rules.communication == nullptr ? std::vector<bool>()
                                                    : rules.communication(trace)),
      grid_(trace.argument(Argument::grid)),
      block_(trace.argument(Argument::block)),
      registers_(trace.argument(Argument::registers_per_thread)),
      shared_memory_(trace.argument(Argument::shared_memory)),
      labels_(trace),
      by_(trace, options.by) {}

const KernelNameFacts& KernelKeys::facts(StringId name) {
  const auto [found, is_new] = facts_.try_emplace(name);
  if (is_new) {
    const std::string_view text = trace_.string(name);
    found->second = {kernel_family(text), rules_.uses_tensor_cores(text)};
  }
  return found->second;
}

bool KernelKeys::is_communication(EventId kernel) const {
  return !communication_.empty() && communication_[index(kernel)];
}

/// Where the name does not show it, the operator may; but one that replays a graph says nothing of
/// the kernels in it.
KernelFamily KernelKeys::family(const KernelRun& run) {
  if (is_communication(run.event)) return KernelFamily::collective;
  const KernelFamily family = facts(run.event).family;
  const bool may_ask = family == KernelFamily::other && rules_.communication != nullptr;
  if (!may_ask || run.op == EventId::none) return family;
  const bool is_of_graph = run.launch != EventId::none && is_graph_launch(trace_.name(run.launch));
  return is_of_graph ? family : operator_family(trace_.name(run.op));
}

KernelKeys::Key KernelKeys::key_of(const KernelRun& run) {
  Key key = {};
  const StringId name = trace_.events().name(run.event);
  const std::int64_t op =
      run.op == EventId::none ? -1 : static_cast<std::int64_t>(trace_.events().name(run.op));
  if (groups_by_name(options_)) {
    key[0] = static_cast<std::int64_t>(name);
    key[11] = is_communication(run.event) ? 1 : 0;
  }
  const bool by_launch = groups_by(options_, KernelGrouping::launch);
  if (by_launch || groups_by(options_, KernelGrouping::op)) key[1] = op;
  if (groups_by(options_, KernelGrouping::family)) {
    key[12] = static_cast<std::int64_t>(family(run));
  }
  if (groups_by(options_, KernelGrouping::label)) {
    const auto next = static_cast<std::int64_t>(label_numbers_.size());
    key[13] = label_numbers_.try_emplace(labels_.of(run.event), next).first->second;
  }
  if (by_launch) {
    const auto grid = parts_of(grid_.dim3(run.event));
    const auto block = parts_of(block_.dim3(run.event));
    std::copy(grid.begin(), grid.end(), key.begin() + 2);
    std::copy(block.begin(), block.end(), key.begin() + 5);
    key[8] = registers_.integer(run.event).value_or(rules_.missing);
    key[9] = shared_memory_.integer(run.event).value_or(rules_.missing);
  }
  if (!options_.by.empty()) key[10] = by_.of(run.event);
  return key;
}

std::size_t KernelKeys::group_of(const KernelRun& run) {
  const Key key = key_of(run);
  const auto [found, is_new] = numbers_.try_emplace(key, groups_.size());
  if (is_new) describe(groups_.emplace_back(), run, key);
  return found->second;
}

void KernelKeys::describe(KernelGroup& group, const KernelRun& run, const Key& key) {
  const StringId name = trace_.events().name(run.event);
  const bool by_launch = groups_by(options_, KernelGrouping::launch);
  if (groups_by_name(options_)) {
    group.name = trace_.string(name);
    group.tensor_cores_used = facts(name).tensor_cores;
  }
  if (groups_by(options_, KernelGrouping::label)) {
    const std::string_view label = labels_.of(run.event);
    group.label = label.empty() ? "[unlabelled]" : label;
  }
  if (groups_by(options_, KernelGrouping::family)) {
    group.family = family(run);
  } else if (groups_by_name(options_)) {
    // A row may have the kernels of several operators.
    group.family = is_communication(run.event) ? KernelFamily::collective : facts(name).family;
  }
  if (by_launch || groups_by(options_, KernelGrouping::op)) {
    group.op = run.op == EventId::none ? rules_.unknown_operator : trace_.name(run.op);
  }
  if (by_launch) {
    group.grid = grid_.dim3(run.event);
    group.block = block_.dim3(run.event);
    group.registers = registers_.integer(run.event);
    group.shared_memory_bytes = shared_memory_.integer(run.event);
  }
  if (!options_.by.empty()) group.values = *by_.values(static_cast<std::uint32_t>(key[10]));
}

}  // namespace tbtrace::analyses
