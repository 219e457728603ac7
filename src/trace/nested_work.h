// Which rows of a device do the work, where rows stand for operators and lie inside one another.
// Pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tbtrace {

struct DeviceRow {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// For rows of one track, in file order: whether a row repeats or groups what others are counted
/// for, so that nothing counts twice. A row whose contents fill at least half of it groups them;
/// any other row counts with all that is inside it: an operator that allocates its output contains
/// a row for that, too. Rows that only overlap count each. Of equal rows the last one counts.
std::vector<bool> repeats_others(std::span<const DeviceRow> rows);

}  // namespace tbtrace
