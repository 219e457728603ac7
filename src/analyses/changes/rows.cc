#include "analyses/changes/rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analyses/changes/fusions.h"
#include "analyses/changes/matches.h"

namespace tbtrace::analyses {
namespace {

struct Side {
  std::vector<double> ns;  // by run
  double count = 0;        // mean of the runs
};

using Sides = std::map<std::string_view, std::pair<Side, Side>>;

double per_step(double sum, const RunFigures& run) {
  return run.step_ns.empty() ? 0 : sum / static_cast<double>(run.step_ns.size());
}

const std::vector<RunRow>& rows_of(const RunFigures& run, DiffBy by) {
  return run.rows[static_cast<std::size_t>(by)];
}

/// Which rows there are if runs of which small rows were left out are compared with others: those
/// that every such run has, and those with enough time that such a run would have them.
class KeptKeys {
 public:
  KeptKeys(std::span<const RunFigures> base, std::span<const RunFigures> changed, DiffBy by) {
    for (const std::span<const RunFigures> side : {base, changed}) {
      for (const RunFigures& run : side) has_all_ = has_all_ && !run.is_reduced;
    }
    if (has_all_) return;
    std::map<std::string_view, std::size_t> reduced_with;
    std::size_t reduced = 0;
    for (const std::span<const RunFigures> side : {base, changed}) {
      for (const RunFigures& run : side) {
        if (!run.is_reduced) {
          add(run, by);
          continue;
        }
        ++reduced;
        for (const RunRow& row : rows_of(run, by)) ++reduced_with[row.key];
      }
    }
    for (const auto& [key, count] : reduced_with) {
      if (count == reduced) keys_.insert(key);
    }
  }

  std::string_view key_of(std::string_view key) const {
    return has_all_ || keys_.contains(key) ? key : kRestKey;
  }

 private:
  void add(const RunFigures& run, DiffBy by) {
    double step_ns = 0;
    for (const std::int64_t ns : run.step_ns) step_ns += static_cast<double>(ns);
    for (const RunRow& row : rows_of(run, by)) {
      if (static_cast<double>(row.ns) >= kLeastShare * step_ns) keys_.insert(row.key);
    }
  }

  static constexpr double kLeastShare = 0.02;

  bool has_all_ = true;
  std::set<std::string_view> keys_;
};

void add_side(std::span<const RunFigures> runs, DiffBy by, const KeptKeys& kept,
              Side std::pair<Side, Side>::*side, Sides& sides) {
  for (std::size_t number = 0; number < runs.size(); ++number) {
    for (const RunRow& row : rows_of(runs[number], by)) {
      Side& found = sides[kept.key_of(row.key)].*side;
      found.ns.resize(runs.size(), 0);
      found.ns[number] += per_step(static_cast<double>(row.ns), runs[number]);
      found.count +=
          per_step(static_cast<double>(row.count), runs[number]) / static_cast<double>(runs.size());
    }
  }
}

/// What the rows of one side alone were made of.
class FusedOperators {
 public:
  FusedOperators(std::span<const RunFigures> base, std::span<const RunFigures> changed, DiffBy by) {
    if (by != DiffBy::op && by != DiffBy::kernel) return;
    for (const RunFigures& run : base) add(run, base_);
    for (const RunFigures& run : changed) add(run, changed_);
  }

  std::vector<std::string> fused_in(const DiffRow& row, bool is_on_both) const {
    if (is_on_both) return {};
    const bool is_new = row.base_ns == 0 && row.base_count == 0;
    return fused_operators(row.key, is_new ? base_ : changed_);
  }

 private:
  static void add(const RunFigures& run, std::set<std::string_view>& operators) {
    for (const RunRow& row : rows_of(run, DiffBy::op)) operators.insert(row.key);
  }

  std::set<std::string_view> base_;
  std::set<std::string_view> changed_;
};

}  // namespace

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::vector<double> step_means(std::span<const RunFigures> runs) {
  std::vector<double> means;
  means.reserve(runs.size());
  for (const RunFigures& run : runs) means.push_back(run.mean_step_ns());
  return means;
}

std::vector<RowSides> row_sides(std::span<const RunFigures> base,
                                std::span<const RunFigures> changed, DiffBy by) {
  Sides sides;
  const KeptKeys kept(base, changed, by);
  add_side(base, by, kept, &std::pair<Side, Side>::first, sides);
  add_side(changed, by, kept, &std::pair<Side, Side>::second, sides);
  std::vector<RowSides> rows;
  const FusedOperators operators(base, changed, by);
  const std::map<std::string_view, RowMatch> renamed = renamed_rows(base, changed, by);
  for (const auto& [key, match] : renamed) {
    // What is part of the rest has no row of its own, and stays there.
    const auto before = sides.find(match.key);
    const auto after = sides.find(key);
    if (before == sides.end() || after == sides.end()) continue;
    after->second.first = std::move(before->second.first);
    sides.erase(before);
  }
  for (auto& [key, of_key] : sides) {
    auto& [before, after] = of_key;
    const bool is_on_both = !before.ns.empty() && !after.ns.empty();
    before.ns.resize(base.size(), 0);
    after.ns.resize(changed.size(), 0);
    RowSides& added = rows.emplace_back();
    added.row.key = key;
    added.row.base_count = before.count;
    added.row.new_count = after.count;
    added.row.base_ns = mean_of(before.ns);
    added.row.new_ns = mean_of(after.ns);
    added.row.change_ns = added.row.new_ns - added.row.base_ns;
    added.row.matched_by = is_on_both ? "name" : "";
    if (const auto match = renamed.find(key); is_on_both && match != renamed.end()) {
      added.row.matched_by = match->second.matched_by;
      added.row.base_key = match->second.key;
    }
    added.row.fuses = operators.fused_in(added.row, is_on_both);
    added.base = std::move(before.ns);
    added.changed = std::move(after.ns);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const RowSides& sides_of_row) {
    return std::abs(sides_of_row.row.change_ns);
  });
  return rows;
}

}  // namespace tbtrace::analyses
