#include "analyses/path/recording.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "analyses/attribution/runtime_calls.h"
#include "analyses/path/path_rows.h"
#include "analyses/path/replay.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "trace/call_tree.h"

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

bool lacks_device_work(const Trace& trace, const PathGraph& graph) {
  if (!graph.work().empty() && !graph.is_on_host(0)) return false;
  RuntimeCalls calls(trace);
  return std::ranges::any_of(call_tree_of(trace).ranges(), [&](EventId range) {
    if (trace.kind(range) != EventKind::runtime) return false;
    const RuntimeCall call = calls.of(range);
    return call == RuntimeCall::wait || call == RuntimeCall::copy ||
           trace.name(range).find("Launch") != std::string_view::npos;
  });
}

std::vector<std::int64_t> durations(std::span<const StepSpan> spans) {
  std::vector<std::int64_t> all;
  all.reserve(spans.size());
  for (const StepSpan& span : spans) all.push_back(span.time.end - span.time.start);
  return all;
}

std::int64_t wall_ns(std::span<const StepSpan> spans, const std::vector<bool>& is_chosen) {
  std::optional<TimeRange> wall;
  for (std::size_t step = 0; step < spans.size(); ++step) {
    if (!is_chosen[step]) continue;
    if (!wall) wall = spans[step].time;
    wall->end = spans[step].time.end;
  }
  return wall ? bounded(WideInteger{wall->end} - wall->start) : 0;
}

double ReplayQuality::error() const {
  const std::int64_t recorded = sum(recorded_ns);
  return recorded == 0 ? 0
                       : static_cast<double>(sum(replayed_ns)) / static_cast<double>(recorded) - 1;
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

void ReplayQuality::judge(bool has_steps, bool lacks_work) {
  if (lacks_work) {
    refusal =
        "it has calls that launch device work or wait for it, and not the work; record it, or do "
        "not slice it away";
  } else if (recorded_ns.size() < 2) {
    refusal = std::string(has_steps ? "it has one step" : "it has no steps") +
              ", and how well a step can be predicted shows only with others; record several steps";
  } else if (unexplained_share > kMostUnexplained) {
    refusal = percent(unexplained_share) + " of the critical path is unexplained; the limit is " +
              percent(kMostUnexplained);
  } else if (std::abs(error()) > kMostError) {
    refusal = "its replay differs by " + percent(error()) +
              " from what was recorded; the limit is " + percent(kMostError);
  } else if (step_error() > kMostStepError) {
    refusal = "the replay of single steps differs by " + percent(step_error()) +
              " from what was recorded; the limit is " + percent(kMostStepError);
  }
}

std::vector<std::string> ReplayQuality::notes() const {
  std::vector<std::string> notes;
  if (recorded_ns.size() > 1) {
    const std::string off = percent(error());
    notes.push_back("replayed without a change, the steps together are " +
                    (off == percent(0) ? "as long as"
                                       : off + (error() < 0 ? " shorter than" : " longer than")) +
                    " recorded, and nine of ten steps are within " + percent(step_error()));
  }
  if (!refusal.empty()) notes.push_back("nothing is predicted from this recording: " + refusal);
  return notes;
}

AnalysisReport::Totals ReplayQuality::facts() const {
  return {{"refusal", refusal.empty() ? Cell() : Cell(refusal)},
          {"replay_error", error()},
          {"unexplained_share", unexplained_share}};
}

PathRecording::PathRecording(const Trace& trace, StepRules rules, PathSteps steps,
                             const PathOptions& options)
    : trace_(trace), rules_(std::move(rules)), steps_(std::move(steps)) {
  steps_.of_work.resize(steps_.of_work.size() + options.collectives.size(), kNoStep);
  graph_ = std::make_unique<PathGraph>(trace, steps_, options.loader_rests, options.collectives);
  delays_ = std::make_unique<PathDelays>(trace, *graph_, steps_);
  if (options.is_of_job) return;
  lengths_ = replay_lengths(*graph_, *delays_);
  replayed_ = replay(*graph_, lengths_);
  path_ = std::make_unique<CriticalPath>(*graph_, path_targets(*graph_, steps_, graph_->times()),
                                         graph_->times(), lengths_);
  judge();
}

std::size_t PathRecording::chosen_steps() const {
  std::size_t count = 0;
  for (std::size_t step = 0; step < steps_.steps.size(); ++step) count += steps_.is_chosen(step);
  return count;
}

std::int64_t PathRecording::sum_of_chosen(std::span<const std::int64_t> by_step) const {
  std::int64_t all = 0;
  for (std::size_t step = 0; step < by_step.size(); ++step) {
    if (steps_.is_chosen(step)) add_bounded(all, by_step[step]);
  }
  return all;
}

std::int64_t PathRecording::wall_ns(std::span<const std::int64_t> times) const {
  std::vector<bool> is_chosen;
  for (std::size_t step = 0; step < steps_.steps.size(); ++step) {
    is_chosen.push_back(steps_.is_chosen(step));
  }
  return analyses::wall_ns(step_spans(*graph_, steps_, times), is_chosen);
}

void PathRecording::judge() {
  quality_.recorded_ns = durations(step_spans(*graph_, steps_, graph_->times()));
  quality_.replayed_ns = durations(step_spans(*graph_, steps_, replayed_));
  const std::int64_t unexplained =
      PathRows(trace_, rules_, *graph_, steps_, PathGrouping::kind).unexplained_ns(path_->pieces());
  quality_.unexplained_share = share(unexplained, sum_of_chosen(quality_.recorded_ns));
  const auto has_range = [](const PathStep& step) { return step.step.event != EventId::none; };
  quality_.judge(std::ranges::any_of(steps_.steps, has_range), lacks_device_work(trace_, *graph_));
}

Result<std::unique_ptr<PathRecording>> PathRecording::of(const Trace& trace,
                                                         const PathOptions& options) {
  StepRules rules(trace, exact_step_policy());
  Result<PathSteps> found = path_steps(trace, rules, options.steps);
  if (!found.ok()) return found.status();
  return std::unique_ptr<PathRecording>(
      new PathRecording(trace, std::move(rules), *std::move(found), options));
}

}  // namespace tbtrace::analyses
