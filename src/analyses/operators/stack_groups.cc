#include "analyses/operators/stack_groups.h"

#include <algorithm>
#include <cstddef>

#include "analyses/torch/stacks.h"
#include "analyses/torch/tree.h"

namespace tbtrace::analyses {

StackGroups::StackGroups(const Trace& trace, TorchNames& names, const SummaryOptions& options)
    : names_(names), frames_(static_cast<std::size_t>(std::max(options.group_by_stack_n, 0))) {
  if (frames_ == 0 || !has_stacks(trace, options.stack_source)) return;
  tree_ = std::make_unique<TorchTree>(trace, ForwardThreads(trace));
  stacks_ = std::make_unique<TorchStacks>(trace, *tree_, names, options.stack_source);
}

StackGroups::~StackGroups() = default;

std::vector<std::string> StackGroups::of(EventId event) {
  std::vector<std::string> stack;
  if (stacks_ == nullptr) return stack;
  for (const NameId frame : stacks_->frames(stacks_->of(event), frames_)) {
    stack.emplace_back(names_.text(frame));
  }
  return stack;
}

std::string joined(const std::vector<std::string>& stack) {
  std::string text;
  for (const std::string& frame : stack) text += frame + '\0';
  return text;
}

}  // namespace tbtrace::analyses
