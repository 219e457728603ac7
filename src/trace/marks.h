// What a trace says at single times: instants and values of counters. Rows of readers and of the
// model alike; which texts their ids refer to, the owner says.
#pragma once

#include <cstdint>
#include <span>

#include <tbtrace/trace.h>

namespace tbtrace {

/// A moment that a program named.
struct Instant {
  std::int64_t time_ns = 0;
  TrackKey process;
  TrackKey thread;
  StringId name = StringId::empty;
  StringId arguments = StringId::empty;  ///< canonical JSON; empty: none
};

/// One series of a counter from a time on. Counters belong to processes.
struct CounterValue {
  std::int64_t time_ns = 0;
  double value = 0;  ///< finite
  TrackKey process;
  StringId name = StringId::empty;    ///< with the counter's `id`, if it has one
  StringId series = StringId::empty;  ///< the key of the value
};

/// In the order of the input; their tracks need not be among the trace's.
std::span<const Instant> instants_of(const Trace& trace);
std::span<const CounterValue> counter_values_of(const Trace& trace);

}  // namespace tbtrace
