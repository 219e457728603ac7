// A part of a trace that is a trace itself: what ran in some time. Pure function.
#pragma once

#include <tbtrace/trace.h>

#include "trace/trace_data.h"

namespace tbtrace::analyses {

/// Has the host ranges that are open in the time of the host, without what of them lies outside;
/// the memory records, instants and counters of that time; and the device activities that start in
/// the time of the devices, whole. Steps of other numbers are ranges like others. The window, the
/// clock, the members of the file and the issues are those of `trace`, so that times and numbers
/// can be compared. Takes O(n) time and memory.
Trace part_of(const Trace& trace, const PartTime& time);

}  // namespace tbtrace::analyses
