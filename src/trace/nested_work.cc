#include "trace/nested_work.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace tbtrace {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

}  // namespace

std::vector<bool> repeats_others(std::span<const DeviceRow> rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (rows[a].start_ns != rows[b].start_ns) return rows[a].start_ns < rows[b].start_ns;
    return rows[a].end_ns > rows[b].end_ns;
  });
  std::vector<std::size_t> around(rows.size(), kNone);
  std::vector<std::int64_t> filled(rows.size(), 0);  // by what is directly inside
  std::vector<std::int64_t> filled_until(rows.size());
  std::vector<std::size_t> open;
  for (const std::size_t row : order) {
    const DeviceRow& own = rows[row];
    filled_until[row] = own.start_ns;
    while (!open.empty() && rows[open.back()].end_ns < own.end_ns) open.pop_back();
    const bool is_after = !open.empty() && rows[open.back()].end_ns <= own.start_ns;
    if (!open.empty() && !is_after) {
      const std::size_t outer = open.back();
      around[row] = outer;
      filled[outer] +=
          std::max<std::int64_t>(own.end_ns - std::max(own.start_ns, filled_until[outer]), 0);
      filled_until[outer] = std::max(filled_until[outer], own.end_ns);
    }
    open.push_back(row);
  }
  std::vector<bool> repeats(rows.size(), false);
  std::vector<bool> covers(rows.size(), false);  // it, or a row around it, counts with its contents
  for (const std::size_t row : order) {
    if (around[row] != kNone && covers[around[row]]) {
      repeats[row] = covers[row] = true;
      continue;
    }
    const std::int64_t length = rows[row].end_ns - rows[row].start_ns;
    const bool groups = filled[row] > 0 && filled[row] >= length - filled[row];
    repeats[row] = groups;
    covers[row] = !groups;
  }
  return repeats;
}

}  // namespace tbtrace
