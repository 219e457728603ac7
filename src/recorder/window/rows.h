// Passes a window to an EventSink, as the rows of the trace that torch.profiler would have written
// of it: for a model, or, with their members, for who writes a file.
#pragma once

#include "recorder/window/row_batch.h"
#include "recorder/window/window.h"
#include "trace/event_sink.h"

namespace tbtrace::recorder {

/// In the order of files. The top-level members of the trace are head.h's.
void pass_rows(const Window& window, const RowRequest& request, EventSink& sink);

}  // namespace tbtrace::recorder
