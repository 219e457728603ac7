// The stacks that rows are grouped by: the innermost frames that torch shows for an event.
// Made for one Trace, which must outlive it. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/torch/names.h"

namespace tbtrace::analyses {

class TorchStacks;
class TorchTree;

class StackGroups {
 public:
  /// `names` must outlive it. `frames`: how many at most; 0: no stacks.
  StackGroups(const Trace& trace, TorchNames& names, std::size_t frames, StackSource source);
  ~StackGroups();

  /// Innermost frame first; empty if the trace has no stacks.
  std::vector<std::string> of(EventId event);

  /// The same for what runs directly in a range that torch lists; with it, if it is a frame.
  std::vector<std::string> inside(EventId range);

 private:
  std::vector<std::string> frames_of(std::uint32_t stack) const;

  const Trace& trace_;
  TorchNames& names_;
  std::size_t frames_;
  std::unique_ptr<TorchTree> tree_;
  std::unique_ptr<TorchStacks> stacks_;  // null: no grouping
};

/// One text of a stack, equal only for equal stacks.
std::string joined(const std::vector<std::string>& stack);

}  // namespace tbtrace::analyses
