// Memory use over time, as in torch.profiler's memory timeline.
// Plain values: any number of threads may read one while none changes it.
// Rows come from a recording and are always valid.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/memory_category.h>

namespace tbtrace {

enum class MemoryAction : std::uint8_t { preexisting = 1, create, increment_version, destroy };

/// A change in a category's size, in bytes. A tensor that is changed in place has two rows: its
/// bytes leave the category of the old value and join the category of the new one.
struct MemoryTimelineRow {
  std::int64_t time_ns = -1;  ///< since 1970; -1: from before the recording
  MemoryAction action = MemoryAction::preexisting;
  std::int64_t bytes = 0;
  MemoryCategory category = MemoryCategory::unknown;

  bool operator==(const MemoryTimelineRow&) const = default;
};

/// By time, then by action.
using MemoryTimeline = std::vector<MemoryTimelineRow>;

}  // namespace tbtrace
