// A whole document of the model alone, for a trace without a file, or whose file is not available.
// Writes to the sink piece by piece. One thread.
#pragma once

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "io/sink.h"

namespace tbtrace::chrome {

/// Does not close the sink.
Result<Changes> write_model_rows(const Trace& trace, Dialect dialect, bool infer_steps,
                                 io::ByteSink& sink);

}  // namespace tbtrace::chrome
