#include "analyses/path/prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bounded_sum.h"
#include "report/duration.h"

namespace tbtrace::analyses {
namespace {

std::int64_t rounded(double ns) { return static_cast<std::int64_t>(std::llround(ns)); }

}  // namespace

Prediction prediction_of(const ReplayQuality& quality, const StepMeans& means, std::size_t count,
                         std::int64_t gain_ns) {
  Prediction made = {.predicted_ns = means.step_ns - gain_ns, .gain_ns = gain_ns};
  const double all = static_cast<double>(quality.recorded_ns.size());
  double mean = 0;
  for (const std::int64_t each : quality.recorded_ns) mean += static_cast<double>(each) / all;
  double squares = 0;
  for (const std::int64_t each : quality.recorded_ns) {
    squares += (static_cast<double>(each) - mean) * (static_cast<double>(each) - mean);
  }
  const double spread =
      all < 2
          ? 0
          : std::sqrt(squares / (all - 1) / static_cast<double>(std::max<std::size_t>(count, 1)));
  const std::int64_t away =
      rounded(std::abs(quality.error()) * static_cast<double>(means.step_ns) + 2 * spread);
  made.low_ns = std::max<std::int64_t>(0, made.predicted_ns - away);
  made.high_ns = bounded_sum(made.predicted_ns, away);
  return made;
}

void cover(Prediction& made, const Prediction& with_rests, AnalysisReport& report) {
  made.low_ns = std::min(made.low_ns, with_rests.low_ns);
  made.high_ns = std::max(made.high_ns, with_rests.high_ns);
  report.notes.emplace_back(
      "between waits for the data loader, batches were there without a wait; whether its "
      "processes had rested is not recorded, and the range covers both");
}

std::string prediction_sentence(std::string_view of, std::string_view change,
                                const StepMeans& means, const Prediction& made) {
  std::string text(of);
  text += " takes " + report::duration_text(means.step_ns) + " on average, and " +
          report::duration_text(made.predicted_ns) + " " + std::string(change) + " (" +
          report::duration_text(made.low_ns) + " to " + report::duration_text(made.high_ns) + ")";
  if (made.gain_ns > 0) {
    text += "; it saves " + report::duration_text(made.gain_ns) +
            ", unless something else takes longer then";
  }
  return text;
}

void add_prediction_totals(AnalysisReport& report, std::size_t steps, const StepMeans& means,
                           const std::optional<Prediction>& made) {
  report.totals.emplace_back("steps", static_cast<std::int64_t>(steps));
  report.totals.emplace_back("step_ns", means.step_ns);
  report.totals.emplace_back("replayed_ns", means.replayed_ns);
  for (const auto& [name, member] :
       {std::pair{"predicted_ns", &Prediction::predicted_ns},
        std::pair{"low_ns", &Prediction::low_ns}, std::pair{"high_ns", &Prediction::high_ns},
        std::pair{"gain_ns", &Prediction::gain_ns}}) {
    report.totals.emplace_back(name, made ? Cell((*made).*member) : Cell());
  }
}

}  // namespace tbtrace::analyses
