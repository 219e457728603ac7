// What the replay of a change says of a step: how long it takes then, and within which limits.
// Plain values; pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/report.h>

#include "analyses/path/recording.h"

namespace tbtrace::analyses {

struct Prediction {
  std::int64_t predicted_ns = 0;  // mean of the steps, as the others
  std::int64_t low_ns = 0;
  std::int64_t high_ns = 0;
  std::int64_t gain_ns = 0;
};

/// Means of the chosen steps, before and after the change.
struct StepMeans {
  std::int64_t step_ns = 0;
  std::int64_t replayed_ns = 0;
};

/// A step gets shorter by as much as the replay does. That is off by as much as the replay of the
/// steps is, and the mean of `count` steps by twice its standard error.
Prediction prediction_of(const ReplayQuality& quality, const StepMeans& means, std::size_t count,
                         std::int64_t gain_ns);

/// Widens the range by that of another prediction: whether the processes of a data loader had
/// rested is not recorded.
void cover(Prediction& made, const Prediction& with_rests, AnalysisReport& report);

/// `a step takes 3 ms on average, and 2 ms with this change (...)`; `of`: `rank 1: a step`.
std::string prediction_sentence(std::string_view of, std::string_view change,
                                const StepMeans& means, const Prediction& made);

/// The totals of the steps, after those of the rows.
void add_prediction_totals(AnalysisReport& report, std::size_t steps, const StepMeans& means,
                           const std::optional<Prediction>& made);

}  // namespace tbtrace::analyses
