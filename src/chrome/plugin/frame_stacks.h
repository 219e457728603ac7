// Call stacks of operators, for traces that have Python frames as events instead: the text that the
// plugin's Operator view groups by.
// Made from a Trace and its nearest_python_frames(), which must outlive it. Views are valid until
// the next call. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::chrome {

class FrameStacks {
 public:
  FrameStacks(const Trace& trace, const Column<EventId>& frames) : trace_(trace), frames_(frames) {}

  /// Frames around `event`, innermost first, joined by `;`, as a JSON string; empty if there are
  /// none. At most 100 frames.
  std::string_view json(EventId event);

 private:
  const Trace& trace_;
  const Column<EventId>& frames_;
  std::unordered_map<std::uint32_t, std::string> by_frame_;
  std::size_t bytes_ = 0;
};

}  // namespace tbtrace::chrome
