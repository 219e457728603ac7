// A straight line through points with outliers.
// Pure function; any thread. Results are the same on every machine.
#pragma once

#include <optional>
#include <span>

namespace tbtrace::statistics {

struct LinePoint {
  double x = 0;
  double y = 0;
};

/// y = middle_y + slope * (x - middle_x)
struct RobustLine {
  double middle_x = 0;
  double middle_y = 0;
  double slope = 0;
  double scatter = 0;       ///< robust standard deviation of the points around the line
  double middle_error = 0;  ///< half of the 95 % interval of middle_y
  double slope_error = 0;   ///< half of the 95 % interval of the slope; 0 if it was not fitted

  double at(double x) const { return middle_y + slope * (x - middle_x); }
};

/// The slope of Theil and Sen (Sen, Journal of the American Statistical Association 63, 1968), then
/// least squares with Tukey's biweight (Beaton and Tukey, Technometrics 16, 1974) around it. The
/// intervals are Student's, with the effective number of points. nullopt with fewer than three
/// points, or a number that is not finite. If all x are equal, the slope is 0.
std::optional<RobustLine> robust_line(std::span<const LinePoint> points);

}  // namespace tbtrace::statistics
