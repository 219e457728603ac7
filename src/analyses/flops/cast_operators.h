// Operators that call themselves with inputs of another type.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
#pragma once

#include <unordered_map>

#include <tbtrace/trace.h>

#include "trace/input_lists.h"

namespace tbtrace::analyses {

/// Autocast converts an operator's inputs and calls the operator again, inside itself. What the
/// outer one takes is what the program gave, what the innermost one takes is what ran.
/// Source: aten/src/ATen/autocast_mode.h (WrapFunction_).
class CastOperators {
 public:
  explicit CastOperators(const Trace& trace);

  /// The operator's inputs with the types that ran.
  InputTexts inputs_of(EventId op) const;

 private:
  const Trace& trace_;
  std::unordered_map<EventId, EventId> inner_;  // the first operator of the same name in it
};

}  // namespace tbtrace::analyses
