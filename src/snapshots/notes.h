// Sentences about a memory snapshot: what a table does not show.
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/memory_snapshot.h>

namespace tbtrace::snapshots {

/// What belongs below the rows of a view.
std::vector<std::string> notes_on(const MemorySnapshot& snapshot, const OptionValues& options);

}  // namespace tbtrace::snapshots
