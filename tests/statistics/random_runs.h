// Made-up run means and step times. A seed gives the same ones with every compiler.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

namespace tbtrace::statistics {

class RandomRuns {
 public:
  explicit RandomRuns(std::uint64_t seed) : random_(seed) {}

  /// Above 0, below 1.
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }

  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  /// Student's t with 3 degrees of freedom, scaled to a standard deviation of 1.
  double heavy_tailed() {
    double squares = 0;
    for (int k = 0; k < 3; ++k) {
      const double part = normal();
      squares += part * part;
    }
    return normal() / std::sqrt(squares);
  }

  /// Means in ns of runs whose logarithms have the standard deviation `noise`.
  std::vector<double> means(std::size_t runs, double noise, bool is_heavy = false) {
    std::vector<double> result;
    result.reserve(runs);
    for (std::size_t run = 0; run < runs; ++run) {
      result.push_back(1e8 * std::exp(noise * (is_heavy ? heavy_tailed() : normal())));
    }
    return result;
  }

  /// Durations in ns of steps with a relative standard deviation of 0.05 and this correlation of
  /// neighbors (an AR(1) series).
  std::vector<std::int64_t> steps(std::size_t count, double correlation) {
    const double fresh = std::sqrt(1 - correlation * correlation);
    std::vector<std::int64_t> result;
    result.reserve(count);
    double state = normal();
    for (std::size_t step = 0; step < count; ++step) {
      state = correlation * state + fresh * normal();
      result.push_back(static_cast<std::int64_t>(1e8 * (1 + 0.05 * state)));
    }
    return result;
  }

 private:
  std::mt19937_64 random_;
};

inline std::vector<double> scaled(std::vector<double> means, double factor) {
  for (double& mean : means) mean *= factor;
  return means;
}

}  // namespace tbtrace::statistics
