// Whether run means rise or fall in the order in which the runs were made, as they do while a
// machine warms up: then runs made later differ from earlier ones without any change of the
// program. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace tbtrace::statistics {

constexpr std::size_t kLeastRunsForDrift = 6;

struct Drift {
  double p_value = 1;         ///< two-sided, of the hypothesis that the order says nothing
  bool exact = false;         ///< from all orders, not from the normal distribution
  double change_per_run = 0;  ///< relative; median of the slopes of all pairs of runs
};

/// The test of Mann, Econometrica 13 (1945), and Kendall: how many pairs of runs rise, against how
/// many fall. The p-value is that of all orders, for at most 50 runs without equal means (Kendall,
/// Biometrika 30, 1938), else that of the normal distribution with the variance for equal means and
/// a correction for continuity. The slope is Sen's (Journal of the American Statistical Association
/// 63, 1968), of logarithms. None below kLeastRunsForDrift runs, or if a mean is 0, negative or not
/// finite.
std::optional<Drift> drift_of(std::span<const double> means_in_time_order);

/// The same of two sides of a comparison, each in its time order: only pairs within a side count
/// (Hirsch, Slack and Smith, Water Resources Research 18, 1982, where sides are seasons), so a
/// change between the sides is not a drift. The runs of both sides count together.
std::optional<Drift> drift_within(std::span<const double> base_means,
                                  std::span<const double> new_means);

}  // namespace tbtrace::statistics
