// Which schedules wait for a signal. The signal's handler counts; the schedule looks at the count
// at each step. Handlers stay for the rest of the process. Any thread.
#pragma once

#include <cstdint>

#include <tbtrace/schedule.h>

namespace tbtrace::recorder {

/// Whether on_signal() made it, so that a program in which it never recorded is as it should be.
bool waits_for_signal(const Schedule& schedule);

/// Has the signal's requests counted from now on, by on_signal()'s handler.
/// \throws std::invalid_argument if the signal is not one for programs
void count_requests(int signal);
/// How many there have been, modulo 2^32.
std::uint32_t requests(int signal);

}  // namespace tbtrace::recorder
