// Which schedules wait for a signal. The signal's handler counts; the schedule looks at the count
// at each step. Handlers stay for the rest of the process. Any thread.
#pragma once

#include <tbtrace/schedule.h>

namespace tbtrace::recorder {

/// Whether on_signal() made it, so that a program in which it never recorded is as it should be.
bool waits_for_signal(const Schedule& schedule);

}  // namespace tbtrace::recorder
