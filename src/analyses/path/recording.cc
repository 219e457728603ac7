#include "analyses/path/recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analyses/path/replay.h"
#include "base/bounded_sum.h"
#include "base/share.h"

namespace tbtrace::analyses {
namespace {

constexpr double kMostError = 0.03;        // of all steps together
constexpr double kMostStepError = 0.05;    // of nine steps in ten
constexpr double kMostUnexplained = 0.10;  // of the critical path

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0}, bounded_sum);
}

/// `2.5 %`
std::string percent(double share) {
  const auto tenths = std::llround(std::abs(share) * 1000);
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " %";
}

}  // namespace

std::int64_t ReplayQuality::recorded_sum_ns() const { return sum(recorded_ns); }
std::int64_t ReplayQuality::replayed_sum_ns() const { return sum(replayed_ns); }

double ReplayQuality::error() const {
  const std::int64_t recorded = recorded_sum_ns();
  return recorded == 0 ? 0
                       : static_cast<double>(replayed_sum_ns()) / static_cast<double>(recorded) - 1;
}

double ReplayQuality::step_error() const {
  std::vector<double> errors;
  for (std::size_t step = 0; step < recorded_ns.size(); ++step) {
    errors.push_back(
        share(std::abs(bounded_sum(replayed_ns[step], -recorded_ns[step])), recorded_ns[step]));
  }
  if (errors.empty()) return 0;
  std::ranges::sort(errors);
  return errors[(errors.size() * 9 - 1) / 10];
}

std::vector<std::string> ReplayQuality::notes() const {
  std::vector<std::string> notes;
  if (recorded_ns.size() > 1) {
    notes.push_back("replayed without a change, the steps together are " + percent(error()) +
                    (error() < 0 ? " shorter" : " longer") +
                    " than recorded, and nine of ten steps are within " + percent(step_error()));
  }
  if (!refusal.empty()) notes.push_back("nothing is predicted from this recording: " + refusal);
  return notes;
}

PathRecording::PathRecording(const Trace& trace, StepRules rules, PathSteps steps)
    : trace_(trace), rules_(std::move(rules)), steps_(std::move(steps)) {
  graph_ = std::make_unique<PathGraph>(trace, steps_);
  delays_ = std::make_unique<PathDelays>(trace, *graph_, steps_);
  lengths_ = replay_lengths(*graph_, *delays_);
  for (PathNode node = 0; node < graph_->size(); ++node) recorded_.push_back(graph_->time(node));
  path_ = std::make_unique<CriticalPath>(*graph_, steps_, recorded_, lengths_);
  judge();
}

std::vector<std::int64_t> PathRecording::chosen(const std::vector<std::int64_t>& of_steps) const {
  std::vector<std::int64_t> values;
  for (std::size_t step = 0; step < of_steps.size(); ++step) {
    if (steps_.is_chosen(step)) values.push_back(of_steps[step]);
  }
  return values;
}

void PathRecording::judge() {
  quality_.recorded_ns = chosen(step_durations(*graph_, steps_, recorded_));
  quality_.replayed_ns = chosen(step_durations(*graph_, steps_, replay(*graph_, lengths_)));
  std::int64_t unexplained = 0;
  path_->for_each_piece([&](const PathPiece& piece) {
    if (piece.is_unexplained) add_bounded(unexplained, piece.time.end - piece.time.start);
    if (piece.edge == nullptr || !piece.edge->is_unknown) return;
    for_each_stretch(graph_->host().of(static_cast<TrackId>(piece.edge->subject)), piece.time.start,
                     piece.time.end, [&](EventId range, std::int64_t start, std::int64_t end) {
                       if (range == EventId::none) add_bounded(unexplained, end - start);
                     });
  });
  quality_.unexplained_share = share(unexplained, quality_.recorded_sum_ns());
  if (steps_.steps.size() < 2) {
    quality_.refusal =
        "it has one step, and how well a step can be predicted shows only with others; record "
        "several steps";
  } else if (quality_.unexplained_share > kMostUnexplained) {
    quality_.refusal = "of " + percent(quality_.unexplained_share) +
                       " of the critical path nothing says what was waited for; the limit is " +
                       percent(kMostUnexplained);
  } else if (std::abs(quality_.error()) > kMostError) {
    quality_.refusal = "its replay differs by " + percent(quality_.error()) +
                       " from what was recorded; the limit is " + percent(kMostError);
  } else if (quality_.step_error() > kMostStepError) {
    quality_.refusal = "the replay of single steps differs by " + percent(quality_.step_error()) +
                       " from what was recorded; the limit is " + percent(kMostStepError);
  }
}

Result<std::unique_ptr<PathRecording>> PathRecording::of(const Trace& trace,
                                                         const std::optional<StepRange>& steps) {
  StepRules rules(trace, exact_step_policy());
  Result<PathSteps> found = path_steps(trace, rules, steps);
  if (!found.ok()) return found.status();
  return std::unique_ptr<PathRecording>(
      new PathRecording(trace, std::move(rules), *std::move(found)));
}

}  // namespace tbtrace::analyses
