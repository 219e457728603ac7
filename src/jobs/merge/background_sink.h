// A sink that writes on a thread of its own, so that compressing and writing go on beside reading.
// Owns the sink and the thread, which ends with it.
// One thread at a time calls it. A failure shows at a later write, at the latest at close().
#pragma once

#include <memory>

#include "io/sink.h"

namespace tbtrace::jobs {

std::unique_ptr<io::ByteSink> background_sink(std::unique_ptr<io::ByteSink> sink);

}  // namespace tbtrace::jobs
