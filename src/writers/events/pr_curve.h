// Precision and recall at thresholds, as defined by torch.utils.tensorboard.summary.compute_curve.
// Any thread. As there, predictions outside 0 to 1 are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tbtrace::writers {

/// Six rows of `thresholds` values each: true positives, false positives, true negatives, false
/// negatives, precision, recall. `weights` is empty, or has one value per prediction, like
/// `labels`.
std::vector<float> pr_curve(std::span<const std::uint8_t> labels,
                            std::span<const float> predictions, std::span<const float> weights,
                            std::size_t thresholds);

}  // namespace tbtrace::writers
