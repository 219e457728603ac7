#include "analyses/stack_groups.h"

#include "analyses/torch_stacks.h"
#include "analyses/torch_tree.h"

namespace tbtrace::analyses {

StackGroups::StackGroups(const Trace& trace, TorchNames& names, int frames)
    : names_(names), frames_(static_cast<std::size_t>(frames > 0 ? frames : 0)) {
  if (frames_ == 0 || trace.argument(Argument::call_stack).empty()) return;
  tree_ = std::make_unique<TorchTree>(trace, ForwardThreads(trace));
  stacks_ = std::make_unique<TorchStacks>(trace, *tree_, names);
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
