// Where the frames of recorded call stacks go between host ranges. A `Call stack` has the functions
// that were active when its range began; this finds those of them that no range around has yet.
//
//   - Where Python frames are ranges of their own, the stacks of that process are not used.
//   - An operator's frames are around everything in it. The stack of a range in it either continues
//     its own or is left out: such is the stack of a forward pass that a backward pass carries.
//   - An annotation has the stack of the moment when it began. What runs in it is on other lines by
//     then, and helpers that only opened it have returned. So of its frames those count that all
//     operators in it share; below it they have the rest of their own stacks. Without operators in
//     it, all its frames count.
//   - A module without a stack has the frames that all operators in it share, up to the frame of
//     the module's own forward: that is the first one in it.
//
// Made for one Trace and its tree, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

class RecordedStacks {
 public:
  using Frame = std::uint32_t;  ///< equal for equal texts

  RecordedStacks(const Trace& trace, const CallTree& tree);

  /// Frames between the range and its parent, outermost first.
  std::span<const Frame> before(EventId range) const;
  std::string_view text(Frame frame) const { return frames_[frame].text; }
  std::size_t frame_count() const { return frames_.size(); }

 private:
  struct FrameText {
    std::string_view text;
    std::uint32_t function;  // equal for equal texts but for the line
    std::string_view name;   // of the function
  };
  /// The outer frames of a stack.
  struct Outer {
    std::uint32_t stack = 0;  // 0: the empty one
    std::uint32_t length = 0;
  };
  /// What several stacks have in common.
  struct Shared {
    Outer outer;
    bool has_next = false;  // the next frame is of one function in all, on several lines
  };
  struct Place {
    Outer around;  // the stack that ranges in it are compared with
    /// `around` was recorded when an annotation or a module began, so later ranges may be on other
    /// lines.
    bool is_moment = false;
    /// The frames from `first_before` to `last_before` of this stack are between parent and range.
    std::uint32_t stack_before = 0;
    std::uint32_t first_before = 0;
    std::uint32_t last_before = 0;
  };

  std::uint32_t stack_of(std::string_view text);
  Frame frame_of(std::string_view text);
  void share(const Trace& trace, const CallTree& tree);
  void place(const Trace& trace, EventId range, EventId parent);
  std::span<const Frame> frames(Outer outer) const {
    return std::span(stacks_[outer.stack]).first(outer.length);
  }
  bool is_annotation(const Trace& trace, EventId range) const;
  std::uint32_t common_length(Outer a, Outer b) const;
  Shared shared_by(Shared a, Shared b) const;
  Outer outside_of(Shared shared, std::string_view class_name) const;
  bool continues_in(Outer around, Outer own, std::uint32_t common) const;

  std::vector<FrameText> frames_;
  std::unordered_map<std::string_view, Frame> frame_numbers_;
  std::unordered_map<std::string, std::uint32_t> functions_;
  std::vector<std::vector<Frame>> stacks_ = {{}};
  std::unordered_map<EventId, Outer> own_;  // of ranges with a stack, and of modules
  std::vector<Place> places_;               // by event; empty if there are no stacks
};

}  // namespace tbtrace::analyses
