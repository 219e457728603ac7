// A collective as the arguments of an event.
// Values only. Any thread.
#pragma once

#include "recorder/log/collective.h"
#include "recorder/window/event_lines.h"

namespace tbtrace::recorder {

/// Arguments of its range, each with a comma before it: names and forms of torch's profiler, which
/// writes them in no particular order.
void append_collective(EventLines& lines, const Collective& collective);

/// Those of them that Kineto also gives a kernel of the range, in its order.
void append_collective_of_kernel(EventLines& lines, const Collective& collective);

}  // namespace tbtrace::recorder
