// Has signals that end the program close the windows that are being recorded before they do what
// they did before.
// A signal's handler only writes to a pipe; a thread does the rest. A forked child has what stood
// before. Any thread.
#pragma once

#include <chrono>
#include <span>

#include <tbtrace/status.h>

namespace tbtrace::recorder {

/// Until the first of them arrives; whoever goes on after that asks again. After `timeout` (the
/// longest of all calls) the signal does what it did before, whatever is still being written; a
/// second SIGINT does so at once. Signals that the program ignores stay ignored. Fails where there
/// can be no pipe or thread. Signals after which nothing can be written, such as SIGSEGV, are
/// StatusCode::invalid_argument, and then nothing has changed.
Status close_on_signals(std::span<const int> signals, std::chrono::milliseconds timeout);

}  // namespace tbtrace::recorder
