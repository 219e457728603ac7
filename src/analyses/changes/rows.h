// What each row of a division of the step took on both sides, per step. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/diff.h>

namespace tbtrace::analyses {

/// The row of what was left out of a reduced run.
inline constexpr std::string_view kRestKey = "[rest]";

/// A row, with its mean per step in each run, in ns.
struct RowSides {
  DiffRow row;
  std::vector<double> base;
  std::vector<double> changed;
};

/// All rows of a division, the largest change first, of equal ones by key. Their `base_ns` and
/// `new_ns` add up to those of the step.
std::vector<RowSides> row_sides(std::span<const RunFigures> base,
                                std::span<const RunFigures> changed, DiffBy by);

/// The means of the steps of each run.
std::vector<double> step_means(std::span<const RunFigures> runs);

/// 0 without values.
double mean_of(std::span<const double> values);

}  // namespace tbtrace::analyses
