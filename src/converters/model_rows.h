// The rows of a trace that has no file, or whose file is not at hand: what the model holds.
// Function of a trace; adds to the sink piece by piece. One thread.
#pragma once

#include <tbtrace/trace.h>

#include "dialects/row_writer.h"
#include "io/sink.h"

namespace tbtrace::converters {

/// The whole document. Does not close the sink.
Status write_model_rows(const Trace& trace, const dialects::RowWriter& writer, io::ByteSink& sink);

}  // namespace tbtrace::converters
