// The rows of a trace from the model alone, for a trace without a file, or whose file is not
// available.
// Writes to the sink piece by piece. One thread.
#pragma once

#include <tbtrace/trace.h>

#include "dialects/row_writer.h"
#include "io/sink.h"

namespace tbtrace::converters {

/// Writes the whole document. Does not close the sink.
Status write_model_rows(const Trace& trace, const dialects::RowWriter& writer, io::ByteSink& sink);

}  // namespace tbtrace::converters
