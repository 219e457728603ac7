// Compares two sets of runs by the mean that each run has of one quantity, such as its step time.
// The run is the unit: steps of one run share its clock rates, memory layout and neighbors, so they
// cannot show how much runs differ.
// Pure functions; any thread. Results are the same with every compiler and any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "statistics/distributions.h"
#include "statistics/verdict.h"

namespace tbtrace::statistics {

/// Where the variation between runs comes from.
enum class Method : std::uint8_t {
  none,         ///< it is unknown, so there is no interval
  welch,        ///< both sides have at least two runs: each side's own variance
  one_side,     ///< one side has five runs or more, the other one or two: its variance for both
  known_noise,  ///< the caller knows it
};

/// Why there is no interval.
enum class Undecided : std::uint8_t {
  no,
  too_few_runs,    ///< the runs cannot show how much runs vary
  bad_value,       ///< a mean is 0, negative or not finite, so that it has no logarithm
  invalid_option,  ///< the rule or the noise is outside its range
};

/// Changes are relative: 0.03 is 3 % more in the new runs.
struct Inference {
  double low = 0;  ///< confidence interval of the change, at the rule's level; never below -1
  double high = 0;
  double p_value = 1;   ///< two-sided, of the hypothesis that both sides are equal
  double p_beyond = 1;  ///< two-sided, of a change within +-min_effect; below 1 - level if and
                        ///< only if the verdict is slower or faster
  double standard_error = 0;  ///< of the logarithm of the ratio
  DegreesOfFreedom degrees;   ///< none: normal distribution
  double resolvable = 0;      ///< the smallest slowdown that the rule would find with its power
};

struct Comparison {
  /// Ratio of geometric means minus 1; 0 if it has no value (bad_value, a side without runs).
  double change = 0;
  /// How much runs of one side vary: pooled standard deviation of the logarithms, which is close
  /// to the relative standard deviation. None if no side has two runs.
  std::optional<double> noise;
  /// The runs vary more than the known noise: chi-squared test, p below 0.001.
  bool noise_exceeded = false;
  Method method = Method::none;
  Undecided undecided = Undecided::no;
  std::optional<Inference> inference;  ///< there if the method is not none
};

/// Compares the runs by the logarithms of their means. Welch, "The generalization of 'Student's'
/// problem when several different population variances are involved", Biometrika 34 (1947), with
/// the degrees of freedom of Satterthwaite, Biometrics Bulletin 2 (1946), but at most twice those
/// of the smaller side: without this limit, 20 equal runs against 3 would alarm too often.
/// Equal values on both sides have an interval without width, and a p-value of 0 or 1.
/// `known_noise` is the relative standard deviation of run means, 0 to 10 (0.01 is 1 %); it
/// replaces the runs' own.
Comparison compare_runs(std::span<const double> base_means, std::span<const double> new_means,
                        const DecisionRule& rule = {}, std::optional<double> known_noise = {});

/// `inconclusive` without an interval.
Verdict verdict_of(const Comparison& comparison, const DecisionRule& rule = {});

/// How many runs each side needs so that the rule finds a slowdown of `effect` with its power, if
/// run means have the relative standard deviation `noise`: 2 to 10,000. None if no such number is
/// enough, or an argument is outside its range; effects up to the rule's min_effect are never
/// found.
std::optional<std::size_t> runs_needed(double effect, double noise, const DecisionRule& rule = {});

}  // namespace tbtrace::statistics
