// Takes the rows of a trace. To do something with rows, implement EventSink.
// TraceBuilder makes the model of them; converters::BlockRewriter writes them in another dialect.
#pragma once

#include "trace/event_batch.h"

namespace tbtrace {

/// Rows come in the order of the input, whatever the number of threads that read it, from one
/// thread at a time. What a reader tried and gave up never comes.
class EventSink {
 public:
  virtual ~EventSink() = default;

  /// The next rows.
  virtual void add(const EventBatch& rows) = 0;

  /// The rows that came before do not count: the input replaced them, as JSON does with a member
  /// that it names again.
  virtual void restart() = 0;
};

}  // namespace tbtrace
