// What the threads of the host did in some times, such as the gaps of devices.
// Results are plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/gpu/host_causes.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

struct HostSpan {
  TimeRange time;
  HostMeaning meaning;
  EventId range = EventId::none;  ///< the innermost one
};

/// By time; they do not overlap. Where there is none, the thread is silent.
using HostSpans = std::vector<HostSpan>;

/// The spans of the chosen threads, by track, as far as they lie in `times`, which are by start and
/// do not overlap. Takes time in proportion to the trace and to what it returns.
std::vector<HostSpans> host_spans(const Trace& trace, const HostCauses& causes,
                                  const std::vector<bool>& threads,
                                  std::span<const TimeRange> times);

/// Adds those parts of `more` to `spans` in which there is none. Only spans that are at least
/// `least` and at most `most`.
void add_where_free(HostSpans& spans, const HostSpans& more, Doing least, Doing most);

}  // namespace tbtrace::analyses
