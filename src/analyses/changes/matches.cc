#include "analyses/changes/matches.h"

#include <cstddef>
#include <utility>

namespace tbtrace::analyses {
namespace {

/// The kernels of a side by name.
using Kernels = std::map<std::string_view, const RunRow*>;
using Origin = std::pair<std::string_view, std::string_view>;

Kernels kernels_of(std::span<const RunFigures> runs) {
  Kernels kernels;
  for (const RunFigures& run : runs) {
    for (const RunRow& row : run.rows[static_cast<std::size_t>(DiffBy::kernel)]) {
      if (!row.op.empty()) kernels.try_emplace(row.key, &row);
    }
  }
  return kernels;
}

/// By origin, the only kernel of it; nullptr if there are several.
template <typename OriginOf>
std::map<Origin, const RunRow*> only_ones(const Kernels& kernels, OriginOf origin_of) {
  std::map<Origin, const RunRow*> found;
  for (const auto& [name, row] : kernels) {
    const auto [place, is_new] = found.try_emplace(origin_of(*row), row);
    if (!is_new) place->second = nullptr;
  }
  return found;
}

template <typename OriginOf>
void match(Kernels& base, Kernels& changed, std::string_view matched_by, OriginOf origin_of,
           std::map<std::string_view, RowMatch>& matches) {
  const std::map<Origin, const RunRow*> before = only_ones(base, origin_of);
  for (const auto& [origin, row] : only_ones(changed, origin_of)) {
    const auto found = before.find(origin);
    if (row == nullptr || found == before.end() || found->second == nullptr) continue;
    matches[row->key] = {found->second->key, matched_by};
    base.erase(found->second->key);
    changed.erase(row->key);
  }
}

}  // namespace

std::map<std::string_view, RowMatch> renamed_kernels(std::span<const RunFigures> base,
                                                     std::span<const RunFigures> changed) {
  Kernels before = kernels_of(base);
  Kernels after = kernels_of(changed);
  for (auto kernel = after.begin(); kernel != after.end();) {
    const bool is_on_both = before.erase(kernel->first) > 0;
    kernel = is_on_both ? after.erase(kernel) : std::next(kernel);
  }
  std::map<std::string_view, RowMatch> matches;
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
