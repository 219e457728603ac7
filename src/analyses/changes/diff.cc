// The comparison of two sides.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/diff.h>

#include "analyses/changes/circumstances.h"
#include "analyses/changes/judgement.h"
#include "analyses/changes/phases.h"
#include "analyses/changes/rows.h"
#include "analyses/changes/sentence.h"
#include "base/quantile.h"

namespace tbtrace {
namespace {

double median_of_steps(std::span<const RunFigures> runs) {
  std::vector<std::int64_t> all;
  for (const RunFigures& run : runs) all.insert(all.end(), run.step_ns.begin(), run.step_ns.end());
  return all.empty() ? 0 : static_cast<double>(median_of(std::move(all)));
}

/// Of each run; empty if one lacks it.
std::vector<double> values_of(std::span<const RunFigures> runs, std::string_view name) {
  std::vector<double> values;
  for (const RunFigures& run : runs) {
    for (const RunQuantity& quantity : run.quantities) {
      if (quantity.name == name) values.push_back(quantity.value);
    }
  }
  if (values.size() < runs.size()) values.clear();
  return values;
}

std::vector<DiffQuantity> quantities_of(std::span<const RunFigures> base,
                                        std::span<const RunFigures> changed,
                                        const DiffOptions& options, bool with_flops,
                                        bool are_judged) {
  std::vector<DiffQuantity> all;
  for (const std::string_view name : kDiffQuantities) {
    if (name == "flops" && !with_flops) continue;
    const std::vector<double> before = values_of(base, name);
    const std::vector<double> after = values_of(changed, name);
    DiffQuantity quantity{name};
    if (!before.empty()) quantity.base_value = analyses::mean_of(before);
    if (!after.empty()) quantity.new_value = analyses::mean_of(after);
    if (name.ends_with("_ns") && are_judged) {
      analyses::judge_quantity(before, after, options, quantity);
    }
    if (quantity.base_value || quantity.new_value) all.push_back(quantity);
  }
  return all;
}

}  // namespace

std::string_view comparable_name(Comparable comparable) {
  constexpr std::array<std::string_view, 3> kNames = {"yes", "warning", "no"};
  return kNames.at(static_cast<std::size_t>(comparable));
}

std::string_view diff_verdict_name(DiffVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"slower", "faster", "same", "inconclusive"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Result<Diff> diff(std::span<const RunFigures> base_runs, std::span<const RunFigures> changed_runs,
                  const DiffOptions& options) {
  if (base_runs.empty() || changed_runs.empty()) {
    return Status(StatusCode::invalid_argument, "a comparison needs a run on each side");
  }
  Diff found;
  const analyses::EqualBatches equal = analyses::with_equal_batches(base_runs, changed_runs);
  const std::span base = equal.base.empty() ? base_runs : std::span(equal.base);
  const std::span changed = equal.base.empty() ? changed_runs : std::span(equal.changed);
  found.batches = equal.note;
  found.phases = analyses::phases_of(base_runs, changed_runs);
  analyses::Circumstances circumstances = analyses::circumstances_of(base, changed);
  found.comparable = circumstances.comparable;
  found.reasons = std::move(circumstances.reasons);
  found.is_same_recording = circumstances.is_same_recording;
  for (const RunFigures& run : base) found.base_names.push_back(run.name);
  for (const RunFigures& run : changed) found.new_names.push_back(run.name);
  const std::vector<double> before = analyses::step_means(base);
  const std::vector<double> after = analyses::step_means(changed);
  found.step.base_ns = analyses::mean_of(before);
  found.step.new_ns = analyses::mean_of(after);
  const double change_ns = found.step.new_ns - found.step.base_ns;
  found.step.change = found.step.base_ns == 0 ? 0 : change_ns / found.step.base_ns;
  found.step.base_median_ns = median_of_steps(base);
  found.step.new_median_ns = median_of_steps(changed);
  analyses::judge_step(base, changed, options, found);
  for (std::size_t by = 0; by < kDiffBys; ++by) {
    std::vector<analyses::RowSides> sides =
        analyses::row_sides(base, changed, static_cast<DiffBy>(by));
    analyses::judge_rows(sides, found, options);
    for (analyses::RowSides& row : sides) {
      if (change_ns != 0) row.row.share = row.row.change_ns / change_ns;
      found.rows[by].push_back(std::move(row.row));
    }
  }
  found.quantities = quantities_of(base, changed, options, circumstances.can_compare_flops,
                                   !found.is_same_recording);
  const bool has_steps = std::ranges::any_of(base, &RunFigures::has_steps) ||
                         std::ranges::any_of(changed, &RunFigures::has_steps);
  found.sentence = analyses::sentence_of(found, has_steps ? "step" : "recording");
  return found;
}

}  // namespace tbtrace
