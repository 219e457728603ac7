// A memory timeline as torch.profiler's files: its rows, its sizes by time, and a page with a
// chart. Pure functions but for the last. Rows are in the order of time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>

#include "report/memory_timeline.h"

namespace tbtrace::writers {

/// How many bytes each category had from a time on. What was there before counts from the first
/// time on.
struct MemorySizes {
  std::vector<std::int64_t> times_us;  ///< since 1970
  std::vector<std::array<std::int64_t, kMemoryCategories>> bytes;
};
MemorySizes memory_sizes(const MemoryTimeline& timeline);

/// `[[ns, action, bytes, category], ...]`
std::string memory_timeline_raw_json(const MemoryTimeline& timeline);

/// `[times, sizes]`, where a row of sizes is 0 and the bytes of each category.
std::string memory_timeline_json(const MemoryTimeline& timeline);

/// A page that needs nothing besides: areas by category, the most that there was, a legend.
std::string memory_timeline_html(const MemoryTimeline& timeline, std::string_view device);

/// One of these, as the end of the path says; an existing file is replaced.
Status write_memory_timeline(const MemoryTimeline& timeline, std::string_view device,
                             const std::string& path);

}  // namespace tbtrace::writers
