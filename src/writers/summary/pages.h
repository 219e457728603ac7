// What the text and the JSON of summaries have in common. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/summary.h>

namespace tbtrace::writers {

/// A finding with the summaries that have it.
struct SharedFinding {
  const Finding* worst = nullptr;  ///< the one with the largest share
  std::size_t worst_summary = 0;
  std::size_t count = 0;
};

/// One per id, the largest share first; before them those that come first, one per trace.
std::vector<SharedFinding> shared_findings(std::span<const TraceSummary> summaries);

/// One per summary, all different: `rank 3`, or what tells its input apart from the others if the
/// rank is not known; `rank 3, iteration_10/rank3` if several are of that rank.
std::vector<std::string> names_of(std::span<const TraceSummary> summaries);

/// Sums over the devices of a trace.
GpuUse all_devices(const TraceSummary& summary);

}  // namespace tbtrace::writers
