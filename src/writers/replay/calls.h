// The calls of an operator, by their inputs.
// Plain values; texts are the trace's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::writers {

/// Calls with the same inputs.
struct CallsOfInputs {
  EventId first = EventId::none;
  /// Each call's own, in ns, the shortest first: on the host, or of the device work that it and
  /// what it called launched.
  std::vector<std::int64_t> times_ns = {};

  std::int64_t total_ns() const;
};

struct CallsOfOperator {
  bool is_on_device = false;
  std::vector<CallsOfInputs> inputs;  ///< those with the most time first
};

CallsOfOperator calls_of(const Trace& trace, std::string_view op);

}  // namespace tbtrace::writers
