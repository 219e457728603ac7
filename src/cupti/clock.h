// The clock that CUPTI's records are in: the recorder's own, as the nanoseconds that CUPTI wants.
// Constants of the process. Any thread.
// CUPTI takes one clock for the life of the process: to set it anew makes it give some records in
// its own (pytorch#192021).
#pragma once

#include <cstdint>

namespace tbtrace::cupti {

/// Nanoseconds of the machine, at the rate that the processor's counter had when the process first
/// looked. That rate need not be exact: ticks_of() takes back what this made of the ticks.
std::uint64_t clock_ns();

/// The recorder's ticks at a time of clock_ns(). A time before the process's first tick is 0.
std::uint64_t ticks_of(std::uint64_t clock_ns);

}  // namespace tbtrace::cupti
