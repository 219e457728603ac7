// The views of a memory snapshot: those named `memory` and `flame_graph`, with tables of its own.
// Results own what they hold.
#pragma once

#include <vector>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/status.h>

#include "pages/view_content.h"

namespace tbtrace::pages {

/// In the order of views().
Result<std::vector<ViewContent>> snapshot_views(const MemorySnapshot& snapshot);

}  // namespace tbtrace::pages
