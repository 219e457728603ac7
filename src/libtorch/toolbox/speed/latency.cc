#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <tbtrace/benchmark.h>

#include "base/quantile.h"

namespace tbtrace {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< of the sample
};

template <typename Value>
Moments moments_of(std::span<const double> times, const Value& value) {
  const auto count = static_cast<double>(times.size());
  Moments moments;
  for (const double time : times) moments.mean += value(time) / count;
  double squares = 0;
  for (const double time : times) {
    const double difference = value(time) - moments.mean;
    squares += difference * difference;
  }
  if (times.size() > 1) moments.deviation = std::sqrt(squares / (count - 1));
  return moments;
}

}  // namespace

LatencyStatistics latency_statistics(std::span<const double> times_ns) {
  constexpr std::size_t kEnoughForTails = 100;
  if (times_ns.empty()) throw std::invalid_argument("there are no times");
  std::vector<double> sorted(times_ns.begin(), times_ns.end());
  std::sort(sorted.begin(), sorted.end());
  LatencyStatistics result;
  result.runs = sorted.size();
  const Moments times = moments_of(times_ns, [](double ns) { return ns; });
  result.mean_ns = times.mean;
  result.std_ns = times.deviation;
  result.min_ns = sorted.front();
  result.max_ns = sorted.back();
  result.p25_ns = quantile(sorted, 0.25);
  result.p50_ns = quantile(sorted, 0.5);
  result.p75_ns = quantile(sorted, 0.75);
  if (sorted.size() >= kEnoughForTails) {
    result.p90_ns = quantile(sorted, 0.9);
    result.p99_ns = quantile(sorted, 0.99);
  }
  const auto per_s = [](double ns) { return 1e9 / std::max(ns, 1.0); };
  const Moments rates = moments_of(times_ns, per_s);
  result.per_s_mean = rates.mean;
  result.per_s_std = rates.deviation;
  result.per_s_min = per_s(sorted.back());
  result.per_s_max = per_s(sorted.front());
  return result;
}

}  // namespace tbtrace
