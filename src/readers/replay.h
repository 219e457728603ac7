// The second pass over a Chrome trace: every row that is whole, with all its members, in the order
// of the file, together with the number that the range got in the Trace of the first pass.
// To rewrite rows, implement RowVisitor. One thread.
// Damage is read around as in the first pass, so the numbers agree; it was counted there.
#pragma once

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "io/source.h"
#include "readers/event_row.h"
#include "readers/event_text.h"

namespace tbtrace::readers {

class RowVisitor {
 public:
  virtual ~RowVisitor() = default;

  /// `range`: its event if the row is a range, else none. Rows that the model left out for what is
  /// wrong with them are not given.
  virtual void row(RowKind kind, EventId range, const RawEvent& event, const TextRules& rules) = 0;

  /// The rows that were given since the last keep() or drop() count.
  virtual void keep() = 0;
  /// They do not, and will come again.
  virtual void drop() = 0;
};

/// The source must give the bytes that the Trace was made of.
Status replay_chrome(io::ByteSource& source, RowVisitor& visitor);

}  // namespace tbtrace::readers
