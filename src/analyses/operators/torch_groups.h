// The groups of key_averages(): which events of torch's list are averaged.
// Owns its keys; keeps a reference to the options and to the list of the last start(). Not
// synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <tbtrace/operators.h>

#include "analyses/grouping/keys.h"
#include "analyses/operators/row_groups.h"
#include "analyses/torch/events.h"

namespace tbtrace::analyses {

class TorchGroups {
 public:
  explicit TorchGroups(const SummaryOptions& options) : options_(options) {}

  /// To be called before of() for the rows of another list. `values`: of `keys`, by row; empty if
  /// rows are not grouped by them.
  void start(const TorchEvents& events, const GroupKeys* keys,
             std::span<const std::uint32_t> values);

  /// The group of a row of the list: a number, in order of first appearance in all lists.
  std::uint32_t of(std::size_t row) {
    RowKeys::Key key;
    key.name = own(events_->name(row));
    key.device = events_->device_type(row);
    key.annotation = events_->is_user_annotation(row);
    if (options_.group_by_overload_name) key.overload = own(events_->overload(row));
    if (options_.group_by_input_shape) key.shapes = own(events_->shapes_name(row));
    if (options_.group_by_stack_n > 0) key.stack = own_stack(events_->stack(row));
    if (!values_.empty()) key.values = own_values(values_[row]);
    bool added = false;
    return static_cast<std::uint32_t>(keys_.find(key, added));
  }

 private:
  std::uint32_t own(NameId name) {
    if (name >= names_.size()) names_.resize(name + 1, kUnset);
    if (names_[name] == kUnset) names_[name] = keys_.number(events_->text(name));
    return names_[name];
  }
  std::uint32_t own_stack(StackId stack);
  std::uint32_t own_values(std::uint32_t values);

  static constexpr std::uint32_t kUnset = 0xffffffff;

  const SummaryOptions& options_;
  RowKeys keys_;
  const TorchEvents* events_ = nullptr;
  const GroupKeys* group_keys_ = nullptr;
  std::span<const std::uint32_t> values_;
  std::vector<std::uint32_t> names_;                   // of the list, to keys_
  std::vector<std::uint32_t> own_values_;              // of group_keys_, to keys_
  std::unordered_map<StackId, std::uint32_t> stacks_;  // likewise
};

}  // namespace tbtrace::analyses
