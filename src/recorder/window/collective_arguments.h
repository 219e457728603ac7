// A collective as the arguments of an event.
// Values only. Any thread.
#pragma once

#include "recorder/log/collective.h"
#include "recorder/window/row_batch.h"

namespace tbtrace::recorder {

/// Arguments of its range: names and forms of torch's profiler, which writes them in no particular
/// order.
void add_collective(RowBatch& batch, const Collective& collective);

/// Those of them that Kineto also gives a kernel of the range, in its order.
void add_collective_of_kernel(RowBatch& batch, const Collective& collective);

}  // namespace tbtrace::recorder
