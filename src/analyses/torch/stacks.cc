#include "analyses/torch/stacks.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "analyses/attribution/call_stack_frames.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kUnknownCaller = "unknown";

/// A frame that contains both words of a pair belongs to the profiler or to autograd.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kHiddenFrames = {{
    {"autograd/__init__", "_make_grads"},
    {"autograd/__init__", "backward"},
    {"torch/tensor", "backward"},
    {"_internal/common_utils", "prof_callable"},
    {"_internal/common_utils", "prof_func_call"},
    {"_internal/common_utils", "prof_meth_call"},
}};

bool is_hidden(std::string_view frame) {
  return std::any_of(kHiddenFrames.begin(), kHiddenFrames.end(), [&](const auto& pair) {
    return frame.find(pair.first) != std::string_view::npos &&
           frame.find(pair.second) != std::string_view::npos;
  });
}

std::uint64_t pair_key(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

}  // namespace

bool has_stacks(const Trace& trace, StackSource source) {
  if (source != StackSource::frames && !trace.argument(Argument::call_stack).empty()) return true;
  const std::span<const Category> categories = trace.categories();
  return source != StackSource::call_stack &&
         std::any_of(categories.begin(), categories.end(), [](const Category& category) {
           return category.kind == EventKind::python_function;
         });
}

TorchStacks::TorchStacks(const Trace& trace, const TorchTree& tree, TorchNames& names,
                         StackSource source)
    : trace_(trace), tree_(tree), names_(names), source_(source) {
  recover_names();
}

StringId TorchStacks::text_of(EventId event) const {
  return trace_.argument(Argument::call_stack).text(event);
}

/// An operator's stack starts with the name of the calling function and continues with that
/// function's stack. It keeps bytes that event names have lost.
void TorchStacks::recover_names() {
  trace_.argument(Argument::call_stack).for_each([&](EventId event) {
    const EventId caller = tree_.python_parent(event);
    if (caller == EventId::none || trace_.name(caller) != kUnknownCaller) return;
    std::string_view text = trace_.string(text_of(event));
    const std::string_view rest = trace_.string(text_of(caller));
    if (text.size() <= rest.size() || !text.ends_with(rest)) return;
    text.remove_suffix(rest.size());
    if (text.ends_with(';')) text.remove_suffix(1);
    recovered_.emplace(caller, names_.intern(text));
  });
}

NameId TorchStacks::python_name(EventId event) {
  const auto found = recovered_.find(event);
  return found != recovered_.end() ? found->second : names_.intern(trace_.name(event));
}

StackId TorchStacks::push(NameId frame, StackId callers) {
  const auto [found, added] =
      node_of_.try_emplace(pair_key(frame, callers), static_cast<StackId>(nodes_.size()));
  if (added) nodes_.push_back({frame, callers});
  return found->second;
}

/// The stack of a Python function and its callers.
StackId TorchStacks::of_python(EventId event) {
  std::vector<EventId> missing;
  StackId stack = 0;
  for (; event != EventId::none; event = tree_.python_parent(event)) {
    const auto found = of_python_.find(event);
    if (found != of_python_.end()) {
      stack = found->second;
      break;
    }
    missing.push_back(event);
  }
  for (; !missing.empty(); missing.pop_back()) {
    stack = push(python_name(missing.back()), stack);
    of_python_.emplace(missing.back(), stack);
  }
  return stack;
}

/// Frames may contain `;`, so a text is split only if it does not match the Python functions
/// around.
StackId TorchStacks::of(EventId event) {
  const StringId text_id = text_of(event);
  if (text_id == StringId::empty && source_ == StackSource::call_stack) return 0;
  const EventId caller = tree_.python_parent(event);
  const StackId called_from = caller == EventId::none ? 0 : of_python(caller);
  if (text_id == StringId::empty || source_ == StackSource::frames) return filtered(called_from);
  const std::string_view text = trace_.string(text_id);
  const auto key = pair_key(called_from, static_cast<std::uint32_t>(text_id));
  const auto [found, added] = of_text_.try_emplace(key, 0);
  if (added) {
    const StackId stack = spells(called_from, text) ? called_from : split(text);
    found->second = filtered(stack);
  }
  return found->second;
}

bool TorchStacks::spells(StackId stack, std::string_view text) const {
  for (; stack != 0; stack = nodes_[stack].callers) {
    const std::string_view frame = names_.text(nodes_[stack].frame);
    if (!text.starts_with(frame)) return false;
    text.remove_prefix(frame.size());
    if (!text.starts_with(';')) return false;
    text.remove_prefix(1);
  }
  return text.empty();
}

StackId TorchStacks::split(std::string_view text) {
  const std::vector<std::string_view> frames = call_stack_frames(text);
  StackId stack = 0;
  for (std::size_t frame = frames.size(); frame-- > 0;) {
    stack = push(names_.intern(frames[frame]), stack);
  }
  return stack;
}

StackId TorchStacks::filtered(StackId stack) {
  std::vector<StackId> missing;
  for (; !filtered_.contains(stack); stack = nodes_[stack].callers) missing.push_back(stack);
  StackId result = filtered_.at(stack);
  for (; !missing.empty(); missing.pop_back()) {
    const NameId frame = nodes_[missing.back()].frame;
    if (!is_hidden(names_.text(frame))) result = push(frame, result);
    filtered_.emplace(missing.back(), result);
  }
  return result;
}

std::vector<NameId> TorchStacks::frames(StackId stack, std::size_t count) const {
  std::vector<NameId> frames;
  for (; stack != 0 && frames.size() < count; stack = nodes_[stack].callers) {
    frames.push_back(nodes_[stack].frame);
  }
  return frames;
}

}  // namespace tbtrace::analyses
