#include "analyses/changes/matches.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analyses/changes/fusions.h"

namespace tbtrace::analyses {
namespace {

struct RowOfSide {
  const RunRow* row = nullptr;
  double count = 0;  // per step
};

/// The rows of a side by name, from the first run that has them.
using Rows = std::map<std::string_view, RowOfSide>;
using Origin = std::pair<std::string_view, std::string_view>;

Rows rows_of(std::span<const RunFigures> runs, DiffBy by) {
  Rows rows;
  for (const RunFigures& run : runs) {
    for (const RunRow& row : run.rows[static_cast<std::size_t>(by)]) {
      if (row.key.starts_with('[')) continue;
      const auto steps = static_cast<double>(std::max<std::size_t>(1, run.step_ns.size()));
      rows.try_emplace(row.key, RowOfSide{&row, static_cast<double>(row.count) / steps});
    }
  }
  return rows;
}

/// By origin, the only row of it; none if there are several. Rows without an origin, which is then
/// empty, are left out.
template <typename OriginOf>
std::map<Origin, RowOfSide> only_ones(const Rows& rows, OriginOf origin_of) {
  std::map<Origin, RowOfSide> found;
  for (const auto& [name, row] : rows) {
    const Origin origin = origin_of(*row.row);
    if (origin.first.empty()) continue;
    const auto [place, is_new] = found.try_emplace(origin, row);
    if (!is_new) place->second.row = nullptr;
  }
  return found;
}

/// What ran more or less often did not take the place of the other one alone.
bool ran_as_often(const RowOfSide& one, const RowOfSide& other) {
  constexpr double kMostApart = 1e-3;
  return std::abs(one.count - other.count) <= kMostApart * std::max(one.count, other.count);
}

template <typename OriginOf>
void match(Rows& base, Rows& changed, std::string_view matched_by, OriginOf origin_of,
           std::map<std::string_view, RowMatch>& matches) {
  const std::map<Origin, RowOfSide> before = only_ones(base, origin_of);
  for (const auto& [origin, row] : only_ones(changed, origin_of)) {
    const auto found = before.find(origin);
    if (row.row == nullptr || found == before.end() || found->second.row == nullptr) continue;
    if (!ran_as_often(found->second, row)) continue;
    const std::string_view key = found->second.row->key;
    matches[row.row->key] = {key, matched_by};
    base.erase(key);
    changed.erase(row.row->key);
  }
}

}  // namespace

std::map<std::string_view, RowMatch> renamed_rows(std::span<const RunFigures> base,
                                                  std::span<const RunFigures> changed, DiffBy by) {
  std::map<std::string_view, RowMatch> matches;
  if (by != DiffBy::op && by != DiffBy::kernel) return matches;
  Rows before = rows_of(base, by);
  Rows after = rows_of(changed, by);
  for (auto row = after.begin(); row != after.end();) {
    const bool is_on_both = before.erase(row->first) > 0;
    row = is_on_both ? after.erase(row) : std::next(row);
  }
  match(
      before, after, "fusion", [](const RunRow& row) { return Origin(fused_stem(row.key), ""); },
      matches);
  if (by == DiffBy::op) return matches;
  match(
      before, after, "shape",
      // Without shapes a kernel is alone with itself.
      [](const RunRow& row) { return Origin(row.op, row.shapes.empty() ? row.key : row.shapes); },
      matches);
  match(
      before, after, "operator", [](const RunRow& row) { return Origin(row.op, ""); }, matches);
  return matches;
}

}  // namespace tbtrace::analyses
