// The line of source that a host range ran in.
// Made from a Trace, which must outlive it. Immutable.
// Without ArgumentGroup::call_stacks only Python frames that are ranges are known.
#pragma once

#include <string_view>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

class LinesAround {
 public:
  explicit LinesAround(const Trace& trace);

  /// `model.py(12): forward`: the innermost Python frame with a line that the range is or is
  /// inside, else the first such frame in the call stack of the innermost operator that has one.
  /// A view into the trace; empty if there is none.
  std::string_view of(EventId range) const;

 private:
  const Trace& trace_;
  Column<EventId> frames_;      // by event: nearest frame with a line; may be empty
  Column<EventId> with_stack_;  // by event: nearest operator with a call stack; may be empty
};

}  // namespace tbtrace::analyses
