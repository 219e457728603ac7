// The `args` of rows as a Trace holds them.
// Made from a Trace, which must outlive it. Owns its data. One thread at a time.
#pragma once

#include <cstddef>
#include <string>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::chrome {

class ModelArguments {
 public:
  /// `left_out`: what is written by others.
  explicit ModelArguments(const Trace& trace, ArgumentSet left_out = {});

  bool has(EventId event, Argument argument) const { return trace_.argument(argument).has(event); }

  /// Appends members, each after a comma. Not the ids that join rows.
  void of_range(EventId event, std::string& json) const;
  /// The same for trace.memory()[record]. Not the device and its bytes.
  void of_memory(std::size_t record, std::string& json) const;

 private:
  void value(EventId event, Argument argument, std::string& json) const;
  void marks(EventId event, std::string& json) const;
  void frame(EventId event, std::string& json) const;

  const Trace& trace_;
  ArgumentSet arguments_;        // that the trace has, and nobody else writes
  bool has_python_ids_ = false;  // from the file
  Column<EventId> frames_;       // the nearest Python frame around each range; empty: not needed
};

}  // namespace tbtrace::chrome
