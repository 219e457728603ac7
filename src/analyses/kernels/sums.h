// The sums of a group of kernels, in whole numbers, so that they can be added in any order.
// Plain values. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/kernels.h>

#include "base/bounded_sum.h"
#include "report/duration_sketch.h"

namespace tbtrace::analyses {

/// A value of each kernel weighted by the kernel's duration. Values are in millionths, rounded, and
/// at most 10^12: the weights of a trace fit.
struct WeightedSum {
  WideInteger weighted = 0;  ///< value times ns
  WideInteger weight_ns = 0;
  WideInteger plain = 0;
  std::uint64_t count = 0;

  /// NaN and infinite values do not count.
  void add(double value, std::int64_t duration_ns);
  /// The mean weighted by duration; by count if all durations are 0. nullopt without values.
  std::optional<double> mean() const;
};

struct KernelSums {
  std::uint64_t count = 0;
  std::uint64_t launches = 0;
  std::uint64_t without_launch = 0;
  std::uint64_t short_kernels = 0;
  std::int64_t min_ns = std::numeric_limits<std::int64_t>::max();  ///< of no kernel
  std::int64_t max_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t launch_delay_max_ns = 0;
  WideInteger total_ns = 0;
  WideInteger squares_ns2 = 0;  ///< of durations; saturates
  WideInteger tensor_core_ns = 0;
  WideInteger launch_call_ns = 0;
  WideInteger launch_delay_total_ns = 0;
  WeightedSum blocks_per_sm;
  WeightedSum occupancy;
  report::DurationSketch durations;

  void add_duration(std::int64_t ns);
};

/// Sets what follows from the sums, in exact figures.
void set_figures(KernelGroup& group, const KernelSums& sums);

/// Standard deviation of a sample of durations; 0 of less than two.
double sample_deviation(std::uint64_t count, WideInteger sum, WideInteger squares);

/// Kernels by group, before anything is derived from the sums.
struct SummedKernels {
  std::vector<KernelGroup> groups;      ///< what they have in common
  std::vector<KernelSums> sums;         ///< by group
  KernelSums all;                       ///< each launch counted once
  std::vector<std::string> notes = {};  ///< of KernelSummary
};

/// Derives the figures, in exact figures; gives short names and sorts.
KernelSummary summary_of(SummedKernels kernels);

/// Sizes as parts of a key; -1 without.
std::array<std::int64_t, 3> parts_of(const std::optional<Dim3>& sizes);

/// Gives short names and sorts. (The figures of peers are derived by other rules.)
void name_and_sort(std::vector<KernelGroup>& groups);

}  // namespace tbtrace::analyses
