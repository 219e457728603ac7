// Passes a window to an EventSink without writing JSON: the rows that a reader gets from the file
// (text.h), with the arguments in kOperatorArguments.
#pragma once

#include "recorder/window/window.h"
#include "trace/event_sink.h"

namespace tbtrace::recorder {

/// Operator names include overloads.
void pass_rows(const Window& window, EventSink& sink);

}  // namespace tbtrace::recorder
