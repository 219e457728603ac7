#include "analyses/grouping/stacks.h"

#include "analyses/torch/stacks.h"
#include "analyses/torch/tree.h"

namespace tbtrace::analyses {

StackGroups::StackGroups(const Trace& trace, TorchNames& names, std::size_t frames,
                         StackSource source)
    : trace_(trace), names_(names), frames_(frames) {
  if (frames_ == 0 || !has_stacks(trace, source)) return;
  tree_ = std::make_unique<TorchTree>(trace, ForwardThreads(trace));
  stacks_ = std::make_unique<TorchStacks>(trace, *tree_, names, source);
}

StackGroups::~StackGroups() = default;

std::vector<std::string> StackGroups::of(EventId event) {
  if (stacks_ == nullptr) return {};
  return frames_of(stacks_->of(event));
}

std::vector<std::string> StackGroups::inside(EventId range) {
  if (stacks_ == nullptr) return {};
  const bool is_frame = trace_.events().is_python_frame(range);
  return frames_of(is_frame ? stacks_->inside(range) : stacks_->of(range));
}

std::vector<std::string> StackGroups::frames_of(std::uint32_t stack) const {
  std::vector<std::string> texts;
  for (const NameId frame : stacks_->frames(stack, frames_)) texts.emplace_back(names_.text(frame));
  return texts;
}

std::string joined(const std::vector<std::string>& stack) {
  std::string text;
  for (const std::string& frame : stack) text += frame + '\0';
  return text;
}

}  // namespace tbtrace::analyses
