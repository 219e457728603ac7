// The clock of CUPTI's records: the recorder's ticks as nanoseconds, which CUPTI asks for. Any
// thread. It should be registered once per process: each further time makes some releases return
// records in CUPTI's own clock (pytorch#192021).
#pragma once

#include <cstdint>

namespace tbtrace::cupti {

/// Nanoseconds of the machine, at the rate that the processor's counter had when the process first
/// looked. That rate need not be exact: ticks_of() takes back what this made of the ticks.
std::uint64_t clock_ns();

/// The recorder's ticks at a time of clock_ns(). A time before the process's first tick is 0.
std::uint64_t ticks_of(std::uint64_t clock_ns);

}  // namespace tbtrace::cupti
