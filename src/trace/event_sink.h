// Consumes the rows of a trace. To process rows in another way, implement EventSink.
// TraceBuilder builds the model from them; chrome::RowBlock writes them in another dialect.
#pragma once

#include "trace/event_batch.h"

namespace tbtrace {

/// Rows come in input order, however many threads read the input, and from one thread at a time.
/// Rows of an abandoned reading attempt are never passed on.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// The next rows.
  virtual void add(const EventBatch& rows) = 0;

  /// Discards all previous rows: the input replaced them by repeating a JSON member.
  virtual void restart() = 0;
};

}  // namespace tbtrace
