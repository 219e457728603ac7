#include "analyses/kernels/sums.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyses/kernels/names.h"
#include "base/nearest_integer.h"

namespace tbtrace::analyses {
namespace {

constexpr double kParts = 1e6;  // of one
constexpr double kMostValue = 1e12;
constexpr WideInteger kMost = ~(WideInteger{1} << 127);

}  // namespace

void WeightedSum::add(double value, std::int64_t duration_ns) {
  if (!std::isfinite(value)) return;
  const std::int64_t parts = nearest_integer(std::clamp(value, -kMostValue, kMostValue) * kParts);
  weighted += WideInteger{parts} * duration_ns;
  weight_ns += duration_ns;
  plain += parts;
  ++count;
}

std::optional<double> WeightedSum::mean() const {
  if (count == 0) return std::nullopt;
  const bool has_weight = weight_ns > 0;
  const auto sum = static_cast<long double>(has_weight ? weighted : plain);
  const auto weight =
      has_weight ? static_cast<long double>(weight_ns) : static_cast<long double>(count);
  return static_cast<double>(sum / weight / kParts);
}

void KernelSums::add_duration(std::int64_t ns) {
  ++count;
  min_ns = std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  total_ns += ns;
  WideInteger sum = 0;
  squares_ns2 = __builtin_add_overflow(squares_ns2, WideInteger{ns} * ns, &sum) ? kMost : sum;
  durations.add(ns);
}

double sample_deviation(std::uint64_t count, WideInteger sum, WideInteger squares) {
  if (count < 2) return 0;
  WideInteger scaled = 0;
  WideInteger square = 0;
  WideInteger difference = 0;
  const auto number = static_cast<long double>(count);
  const bool is_exact = !__builtin_mul_overflow(WideInteger{count}, squares, &scaled) &&
                        !__builtin_mul_overflow(sum, sum, &square) &&
                        !__builtin_sub_overflow(scaled, square, &difference);
  const long double numerator =
      is_exact ? static_cast<long double>(difference)
               : number * static_cast<long double>(squares) -
                     static_cast<long double>(sum) * static_cast<long double>(sum);
  return static_cast<double>(std::sqrt(std::max(0.0L, numerator) / number / (number - 1)));
}

void set_figures(KernelGroup& group, const KernelSums& sums) {
  group.count = sums.count;
  group.total_ns = bounded(sums.total_ns);
  group.min_ns = sums.count == 0 ? 0 : sums.min_ns;
  group.max_ns = sums.count == 0 ? 0 : sums.max_ns;
  if (sums.count > 0) {
    group.mean_ns = static_cast<double>(sums.total_ns) / static_cast<double>(sums.count);
  }
  group.stddev_ns = sample_deviation(sums.count, sums.total_ns, sums.squares_ns2);
  const auto percentile = [&](int percent) {
    return std::clamp(sums.durations.percentile(percent), group.min_ns, group.max_ns);
  };
  group.median_ns = percentile(50);
  group.p90_ns = percentile(90);
  group.p99_ns = percentile(99);
  group.tensor_core_ns = bounded(sums.tensor_core_ns);
  group.blocks_per_sm = sums.blocks_per_sm.mean();
  group.occupancy_percent = sums.occupancy.mean();
  group.launches = sums.launches;
  group.without_launch = sums.without_launch;
  group.launch_call_ns = bounded(sums.launch_call_ns);
  group.launch_delay_total_ns = bounded(sums.launch_delay_total_ns);
  group.launch_delay_max_ns = sums.launch_delay_max_ns;
  const std::uint64_t launched = sums.count - sums.without_launch;
  if (launched > 0) {
    group.launch_delay_mean_ns =
        static_cast<double>(sums.launch_delay_total_ns) / static_cast<double>(launched);
  }
  group.short_kernels = sums.short_kernels;
}

std::array<std::int64_t, 3> parts_of(const std::optional<Dim3>& sizes) {
  if (!sizes) return {-1, -1, -1};
  return {sizes->x, sizes->y, sizes->z};
}

void name_and_sort(std::vector<KernelGroup>& groups) {
  std::vector<std::string_view> names;
  names.reserve(groups.size());
  for (const KernelGroup& group : groups) names.push_back(group.name);
  std::vector<std::string> short_names = distinct_kernel_names(names);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    groups[group].short_name = std::move(short_names[group]);
  }
  const auto order = [](const KernelGroup& group) {
    return std::tuple(-group.total_ns, std::string_view(group.name), std::string_view(group.op),
                      std::string_view(group.label), group.family, parts_of(group.grid),
                      parts_of(group.block), group.registers, group.shared_memory_bytes);
  };
  std::ranges::stable_sort(groups, {}, &KernelGroup::values);
  std::ranges::stable_sort(groups, {}, order);
}

KernelSummary summary_of(SummedKernels kernels) {
  KernelSummary summary;
  summary.groups = std::move(kernels.groups);
  for (std::size_t group = 0; group < summary.groups.size(); ++group) {
    set_figures(summary.groups[group], kernels.sums[group]);
  }
  name_and_sort(summary.groups);
  set_figures(summary.all, kernels.all);
  summary.notes = std::move(kernels.notes);
  return summary;
}

}  // namespace tbtrace::analyses
