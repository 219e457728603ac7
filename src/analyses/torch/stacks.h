// The Python stacks of events as torch.profiler lists them, innermost frame first.
// Owns its frames; made for one Trace. Not synchronised.
// Names that the writer replaced by `unknown` are recovered from the stacks of the called
// operators.
// Source: torch/autograd/profiler_util.py (_filter_stack_entry) and profiler_kineto.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/torch/names.h"
#include "analyses/torch/tree.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// A stack; equal stacks have equal numbers. 0 is the empty one.
using StackId = std::uint32_t;

/// Whether a trace may have stacks of this source.
bool has_stacks(const Trace& trace, StackSource source);

class TorchStacks {
 public:
  TorchStacks(const Trace& trace, const TorchTree& tree, TorchNames& names, StackSource source);

  /// The frames that torch shows for an event, or with frames as source, would have shown had
  /// it recorded with `verbose`.
  StackId of(EventId event);

  /// The same for what runs directly in a Python function.
  StackId inside(EventId function) { return filtered(of_python(function)); }

  /// Frames of a stack, innermost first, at most `count` of them.
  std::vector<NameId> frames(StackId stack, std::size_t count) const;

  /// The name of a Python function: from the file, or recovered in place of `unknown`.
  NameId python_name(EventId event);

 private:
  // A stack is a frame and the stack that called it.
  struct Node {
    NameId frame = 0;
    StackId callers = 0;
  };

  StackId push(NameId frame, StackId callers);
  StackId of_python(EventId event);
  StackId split(std::string_view text);
  bool spells(StackId stack, std::string_view text) const;
  StackId filtered(StackId stack);
  StringId text_of(EventId event) const;
  void recover_names();

  const Trace& trace_;
  const TorchTree& tree_;
  TorchNames& names_;
  StackSource source_;
  std::vector<Node> nodes_ = {{}};
  std::unordered_map<std::uint64_t, StackId> node_of_;  // frame, callers
  std::unordered_map<EventId, NameId> recovered_;       // of functions named `unknown`
  std::unordered_map<EventId, StackId> of_python_;      // stack of a function
  std::unordered_map<std::uint64_t, StackId> of_text_;  // Python function, text
  std::unordered_map<StackId, StackId> filtered_ = {{0, 0}};
};

}  // namespace tbtrace::analyses
