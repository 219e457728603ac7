// Has SIGTERM close the windows that are being recorded before it does what it did before.
// The signal's handler only writes to a pipe; a thread does the rest. A forked child has what stood
// before. Any thread.
#pragma once

#include <chrono>

#include <tbtrace/status.h>

namespace tbtrace::recorder {

/// Until the first SIGTERM; whoever goes on after that asks again. After `timeout` (the longest of
/// all calls) the signal does what it did before, whatever is still being written. Fails where
/// there can be no pipe or thread.
Status close_on_sigterm(std::chrono::milliseconds timeout);

}  // namespace tbtrace::recorder
