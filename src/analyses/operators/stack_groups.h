// The stacks that a summary groups by: the innermost frames that torch shows for an event.
// Made for one Trace, which must outlive it. Not synchronised.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/trace.h>

#include "analyses/torch/names.h"

namespace tbtrace::analyses {

class TorchStacks;
class TorchTree;

class StackGroups {
 public:
  /// `names` must outlive it.
  StackGroups(const Trace& trace, TorchNames& names, const SummaryOptions& options);
  ~StackGroups();

  /// Innermost frame first; empty if the trace has no stacks.
  std::vector<std::string> of(EventId event);

 private:
  TorchNames& names_;
  std::size_t frames_;
  std::unique_ptr<TorchTree> tree_;
  std::unique_ptr<TorchStacks> stacks_;  // null: no grouping
};

/// One text of a stack, equal only for equal stacks.
std::string joined(const std::vector<std::string>& stack);

}  // namespace tbtrace::analyses
