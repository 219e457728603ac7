// Has std::terminate(), and so an uncaught exception, close the windows that are being recorded
// before the program aborts. Any thread.
#pragma once

#include <chrono>

namespace tbtrace::recorder {

/// From now on, in this process. After `timeout` (the longest of all calls) the handler that stood
/// before is called, whatever is still being written. A forked child has what stood before until
/// it asks itself.
void close_on_terminate(std::chrono::milliseconds timeout);

}  // namespace tbtrace::recorder
