// Memory use over time, as in torch.profiler's memory timeline.
// Plain values: any number of threads may read one while none changes it.
// Rows come from a recording and are always valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbtrace {

/// What a tensor's memory is for, with torch's numbers.
enum class MemoryCategory : std::uint8_t {
  parameter,
  optimizer_state,
  input,
  temporary,
  activation,
  gradient,
  autograd_detail,
  unknown,
};
inline constexpr std::size_t kMemoryCategories = 8;

/// torch's names, as in its chart.
constexpr std::string_view memory_category_name(MemoryCategory category) {
  constexpr std::string_view kNames[kMemoryCategories] = {
      "PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
      "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
  return kNames[static_cast<std::size_t>(category)];
}

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
