// The dialects that there are.
#pragma once

#include <memory>

#include <tbtrace/convert.h>
#include <tbtrace/trace.h>

#include "chrome/rows/row_document.h"
#include "io/sink.h"

namespace tbtrace::chrome {

/// The trace and the sink must outlive the document.
std::unique_ptr<RowDocument> new_document(const Trace& trace, Dialect dialect, bool infer_steps,
                                          int threads, io::ByteSink& sink);

}  // namespace tbtrace::chrome
