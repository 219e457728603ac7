// A memory timeline in torch.profiler's file formats: its rows, its sizes over time, and a page
// with a chart. Rows are in the order of time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>

#include "report/memory_timeline.h"

namespace tbtrace::writers {

/// The bytes of each category from each time on. Memory from before the recording counts from the
/// first time on.
struct MemorySizes {
  std::vector<std::int64_t> times_us;  ///< since 1970
  std::vector<std::array<std::int64_t, kMemoryCategories>> bytes;
};
MemorySizes memory_sizes(const MemoryTimeline& timeline);

/// `[[ns, action, bytes, category], ...]`
std::string memory_timeline_raw_json(const MemoryTimeline& timeline);

/// `[times, sizes]`, where each row of sizes is 0 followed by the bytes of each category.
std::string memory_timeline_json(const MemoryTimeline& timeline);

/// A self-contained page: areas by category, the peak, a legend.
std::string memory_timeline_html(const MemoryTimeline& timeline, std::string_view device);

/// Writes one of these, chosen by the end of the path; replaces an existing file.
Status write_memory_timeline(const MemoryTimeline& timeline, std::string_view device,
                             const std::string& path);

}  // namespace tbtrace::writers
