// Precision and recall at thresholds, as torch.utils.tensorboard.summary.compute_curve defines
// them. Pure function, any thread. Predictions outside 0 to 1 are left out, as there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tbtrace::writers {

/// Six rows of `thresholds` figures: true positives, false positives, true negatives, false
/// negatives, precision, recall. `weights` is empty or one for each prediction, as `labels` is.
std::vector<float> pr_curve(std::span<const std::uint8_t> labels,
                            std::span<const float> predictions, std::span<const float> weights,
                            std::size_t thresholds);

}  // namespace tbtrace::writers
