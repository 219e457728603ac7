#include "writers/events/pr_curve.h"

#include <algorithm>
#include <cmath>

namespace tbtrace::writers {

std::vector<float> pr_curve(std::span<const std::uint8_t> labels,
                            std::span<const float> predictions, std::span<const float> weights,
                            std::size_t thresholds) {
  constexpr double kLeast = 1e-7;  // avoids a division by 0
  // Positives at each threshold: first only in its bucket, then summed over all higher buckets.
  std::vector<double> right(thresholds);
  std::vector<double> wrong(thresholds);
  const auto last = static_cast<float>(thresholds - 1);
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const float bucket = std::floor(predictions[i] * last);
    if (!(bucket >= 0 && bucket <= last)) continue;
    (labels[i] != 0 ? right : wrong)[static_cast<std::size_t>(bucket)] +=
        weights.empty() ? 1.0 : static_cast<double>(weights[i]);
  }
  for (std::size_t i = thresholds - 1; i > 0; --i) {
    right[i - 1] += right[i];
    wrong[i - 1] += wrong[i];
  }
  std::vector<float> curve(6 * thresholds);
  for (std::size_t i = 0; i < thresholds; ++i) {
    const double negatives_right = wrong[0] - wrong[i];
    const double negatives_wrong = right[0] - right[i];
    const double rows[] = {right[i],
                           wrong[i],
                           negatives_right,
                           negatives_wrong,
                           right[i] / std::max(kLeast, right[i] + wrong[i]),
                           right[i] / std::max(kLeast, right[i] + negatives_wrong)};
    for (std::size_t row = 0; row < 6; ++row) {
      curve[row * thresholds + i] = static_cast<float>(rows[row]);
    }
  }
  return curve;
}

}  // namespace tbtrace::writers
