// Times of a trace: how far they may be from 0, and as tables show them. Any thread.
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

#include "base/bounded_sum.h"

namespace tbtrace {

/// Times are nearer to 0 than this, so that differences of two of them do not overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

/// From the start of the trace's window to a time of the trace, in ns.
inline std::int64_t since_start(const Trace& trace, std::int64_t time_ns) {
  return bounded(WideInteger{time_ns} - trace.window_start_ns());
}

}  // namespace tbtrace
