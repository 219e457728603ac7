#include "statistics/robust_line.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "statistics/distributions.h"

namespace tbtrace::statistics {
namespace {

constexpr std::size_t kMostForSlopes = 301;      // points; their pairs are what Theil and Sen need
constexpr double kOfNormal = 1.482602218505602;  // standard deviation by median deviation
constexpr double kTukey = 4.685;                 // 95 % efficient for normal errors
constexpr int kRounds = 20;
constexpr double kOutside = 0.025;

double median_of_doubles(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

/// Of points that are spread over all of them.
double median_slope(std::span<const LinePoint> points) {
  const std::size_t count = std::min(points.size(), kMostForSlopes);
  const auto chosen = [&](std::size_t number) -> const LinePoint& {
    return points[number * (points.size() - 1) / std::max<std::size_t>(1, count - 1)];
  };
  std::vector<double> slopes;
  for (std::size_t one = 0; one < count; ++one) {
    for (std::size_t two = one + 1; two < count; ++two) {
      const double dx = chosen(two).x - chosen(one).x;
      if (dx != 0) slopes.push_back((chosen(two).y - chosen(one).y) / dx);
    }
  }
  return slopes.empty() ? 0 : median_of_doubles(slopes);
}

struct Weighted {
  double weights = 0;
  double squares = 0;  // of weights
  double x = 0;
  double y = 0;
  double xx = 0;  // around the means
  double xy = 0;
};

Weighted weigh(std::span<const LinePoint> points, const std::vector<double>& weights) {
  Weighted sums;
  for (std::size_t at = 0; at < points.size(); ++at) {
    sums.weights += weights[at];
    sums.squares += weights[at] * weights[at];
    sums.x += weights[at] * points[at].x;
    sums.y += weights[at] * points[at].y;
  }
  sums.x /= sums.weights;
  sums.y /= sums.weights;
  for (std::size_t at = 0; at < points.size(); ++at) {
    const double dx = points[at].x - sums.x;
    sums.xx += weights[at] * dx * dx;
    sums.xy += weights[at] * dx * (points[at].y - sums.y);
  }
  return sums;
}

double scatter_around(std::span<const LinePoint> points, const RobustLine& line) {
  std::vector<double> deviations;
  deviations.reserve(points.size());
  for (const LinePoint& point : points) deviations.push_back(std::abs(point.y - line.at(point.x)));
  return kOfNormal * median_of_doubles(deviations);
}

}  // namespace

std::optional<RobustLine> robust_line(std::span<const LinePoint> points) {
  const bool are_finite = std::ranges::all_of(points, [](const LinePoint& point) {
    return std::isfinite(point.x) && std::isfinite(point.y);
  });
  if (points.size() < 3 || !are_finite) return std::nullopt;
  RobustLine line;
  line.slope = median_slope(points);
  std::vector<double> rest;
  rest.reserve(points.size());
  for (const LinePoint& point : points) {
    line.middle_x += point.x / static_cast<double>(points.size());
  }
  for (const LinePoint& point : points) {
    rest.push_back(point.y - line.slope * (point.x - line.middle_x));
  }
  line.middle_y = median_of_doubles(rest);
  line.scatter = scatter_around(points, line);

  std::vector<double> weights(points.size(), 1);
  Weighted sums;
  for (int round = 0; round < kRounds; ++round) {
    // Equal points have no scatter; those beside them are outliers.
    const double limit = std::max(kTukey * line.scatter, 1e-9);
    for (std::size_t at = 0; at < points.size(); ++at) {
      const double part = (points[at].y - line.at(points[at].x)) / limit;
      const double inside = std::max(0.0, 1 - part * part);
      weights[at] = inside * inside;
    }
    sums = weigh(points, weights);
    line.middle_x = sums.x;
    line.middle_y = sums.y;
    line.slope = sums.xx > 0 ? sums.xy / sums.xx : 0;
    line.scatter = scatter_around(points, line);
  }
  double residuals = 0;
  for (std::size_t at = 0; at < points.size(); ++at) {
    const double off = points[at].y - line.at(points[at].x);
    residuals += weights[at] * off * off;
  }
  const double effective = sums.weights * sums.weights / sums.squares;
  const double degrees = std::max(1.0, effective - 2);
  // Small weights make the squares too small; the scatter is not affected.
  const double variance =
      std::max(residuals / sums.weights * effective / degrees, line.scatter * line.scatter);
  const double t = upper_quantile(degrees, kOutside);
  line.middle_error = t * std::sqrt(variance / effective);
  line.slope_error =
      sums.xx > 0 ? t * std::sqrt(variance / (sums.xx / sums.weights * effective)) : 0;
  return line;
}

}  // namespace tbtrace::statistics
