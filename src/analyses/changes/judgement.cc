#include "analyses/changes/judgement.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "statistics/block_bootstrap.h"
#include "statistics/drift.h"
#include "statistics/false_discovery.h"
#include "statistics/verdict.h"
#include "statistics/welch.h"

namespace tbtrace::analyses {
namespace {

constexpr double kLeastShareOfStep = 0.005;
/// What a plan for more runs assumes where nothing is known.
constexpr double kUsualNoise = 0.02;
constexpr double kWorthFinding = 0.03;

statistics::DecisionRule rule_of(const DiffOptions& options) {
  return {.min_effect = options.min_effect};
}

DiffVerdict verdict_of(statistics::Verdict verdict) {
  switch (verdict) {
    case statistics::Verdict::slower:
      return DiffVerdict::slower;
    case statistics::Verdict::faster:
      return DiffVerdict::faster;
    case statistics::Verdict::same:
      return DiffVerdict::same;
    case statistics::Verdict::inconclusive:
      break;
  }
  return DiffVerdict::inconclusive;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// A slowdown that is larger than this is not worth a number.
constexpr double kMostResolvable = 10;

/// How many runs it takes to find `effect` where runs vary by `noise`.
std::string plan(double effect, double noise, const statistics::DecisionRule& rule) {
  const std::optional<std::size_t> runs = statistics::runs_needed(effect, noise, rule);
  if (!runs) return {};
  constexpr std::size_t kMostRuns = 50;
  if (*runs > kMostRuns) {
    return fmt::format(
        " To find a change of {} takes more than {} runs a side where runs vary by "
        "{}: make them vary less first.",
        percent(effect), kMostRuns, percent(noise));
  }
  return fmt::format(" To find a change of {} where runs vary by {}, it takes {} runs a side.",
                     percent(effect), percent(noise), *runs);
}

std::string basis(const statistics::Comparison& compared, const statistics::DecisionRule& rule,
                  bool is_one_a_side) {
  const double worth = std::max({kWorthFinding, 2 * rule.min_effect, std::abs(compared.change)});
  if (!compared.inference) {
    if (compared.undecided == statistics::Undecided::bad_value) {
      return "A run has a step of no length, so nothing can be said.";
    }
    return std::string(is_one_a_side ? "One run a side does" : "So few runs do") +
           " not show how much runs vary, so the difference may be chance." +
           plan(worth, kUsualNoise, rule);
  }
  std::string text;
  if (compared.method == statistics::Method::known_noise) {
    text = "By the variation between runs that was given";
  } else {
    text = "Runs of a side vary by " + percent(compared.noise.value_or(0));
  }
  text += compared.inference->resolvable > kMostResolvable
              ? "; even the step taking ten times as long might not have been found."
              : fmt::format("; a slowdown of {} or more would have been found in 9 of 10 cases.",
                            percent(compared.inference->resolvable));
  if (compared.method == statistics::Method::one_side) {
    text +=
        " One side has too few runs to show its own variation, so that of the other one is "
        "taken for both: three runs or more on each side make a verdict surer.";
  }
  if (compared.noise_exceeded) {
    text += " The runs vary more than was given, so the verdict is too sure.";
  }
  const bool is_open = statistics::verdict_of(compared, rule) == statistics::Verdict::inconclusive;
  if (is_open && compared.noise) text += plan(worth, *compared.noise, rule);
  return text;
}

/// Whether both sides have several runs, and all of one were recorded before any of the other.
bool is_one_after_the_other(std::span<const RunFigures> base, std::span<const RunFigures> changed) {
  if (base.size() < 2 || changed.size() < 2) return false;
  const auto has_no_start = [](const RunFigures& run) { return !run.start_ns; };
  if (std::ranges::any_of(base, has_no_start) || std::ranges::any_of(changed, has_no_start)) {
    return false;
  }
  const auto [first_base, last_base] = std::ranges::minmax(base, {}, &RunFigures::start_ns);
  const auto [first_new, last_new] = std::ranges::minmax(changed, {}, &RunFigures::start_ns);
  return last_base.start_ns < first_new.start_ns || last_new.start_ns < first_base.start_ns;
}

/// What else a reader must know of the verdict.
std::string doubts(std::span<const double> before, std::span<const double> after,
                   const StepChange& step, const statistics::DecisionRule& rule) {
  constexpr double kSure = 0.01;
  std::string text;
  const std::optional<statistics::Drift> drift = statistics::drift_within(before, after);
  if (drift && drift->p_value < kSure) {
    text += fmt::format(
        " Runs drift by {} from one to the next, in the order in which they are named, so that a "
        "difference between the sides may come from when they were made: alternate them.",
        percent(drift->change_per_run));
  }
  const double by_medians = step.new_median_ns - step.base_median_ns;
  const bool matters = std::abs(by_medians) >= rule.min_effect * step.base_median_ns;
  if (by_medians * step.change < 0 && matters) {
    text += fmt::format(" The median step changed the other way, from {:.3f} to {:.3f} ms.",
                        step.base_median_ns / 1e6, step.new_median_ns / 1e6);
  }
  return text;
}

void describe_single_runs(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                          StepChange& step) {
  if (base.size() != 1 || changed.size() != 1) return;
  const std::optional<statistics::StepInterval> steps =
      statistics::describe_steps(base.front().step_ns, changed.front().step_ns);
  if (!steps) return;
  step.steps_low = steps->low;
  step.steps_high = steps->high;
}

}  // namespace

void judge_step(std::span<const RunFigures> base, std::span<const RunFigures> changed,
                const DiffOptions& options, Diff& found) {
  if (found.is_same_recording) {
    found.verdict = DiffVerdict::same;
    found.why = base.size() == 1 ? "no change: both sides are the same recording"
                                 : "no change: both sides are the same recordings";
    return;
  }
  const std::vector<double> before = step_means(base);
  const std::vector<double> after = step_means(changed);
  describe_single_runs(base, changed, found.step);
  if (found.comparable == Comparable::no) {
    found.why = "The two sides cannot be compared.";
    return;
  }
  const statistics::DecisionRule rule = rule_of(options);
  const statistics::Comparison compared =
      statistics::compare_runs(before, after, rule, options.run_noise);
  found.verdict = verdict_of(statistics::verdict_of(compared, rule));
  if (compared.inference) {
    found.step.low = compared.inference->low;
    found.step.high = compared.inference->high;
    found.step.resolvable = compared.inference->resolvable;
  }
  found.why = basis(compared, rule, before.size() == 1 && after.size() == 1) +
              doubts(before, after, found.step, rule);
  const bool is_other =
      found.verdict == DiffVerdict::slower || found.verdict == DiffVerdict::faster;
  if (is_other && is_one_after_the_other(base, changed)) {
    found.why +=
        " One side was recorded after the other, so that a drift of the machine would look the "
        "same: alternate their runs.";
  }
}

void judge_quantity(std::span<const double> base, std::span<const double> changed,
                    const DiffOptions& options, DiffQuantity& quantity) {
  const statistics::Comparison compared = statistics::compare_runs(base, changed, rule_of(options));
  if (!compared.inference) return;
  quantity.low = compared.inference->low;
  quantity.high = compared.inference->high;
}

void judge_rows(std::span<RowSides> rows, const Diff& found, const DiffOptions& options) {
  if (found.is_same_recording) {
    for (RowSides& sides : rows) sides.row.verdict = DiffVerdict::same;
    return;
  }
  const StepChange& step = found.step;
  const statistics::DecisionRule rule = rule_of(options);
  const double least_ns = kLeastShareOfStep * std::max(step.base_ns, step.new_ns);
  std::vector<RowSides*> judged;
  std::vector<double> p_values;
  for (RowSides& sides : rows) {
    if (std::max(sides.row.base_ns, sides.row.new_ns) < least_ns) continue;
    const statistics::Comparison compared =
        statistics::compare_runs(sides.base, sides.changed, rule);
    if (!compared.inference) continue;
    sides.row.low_ns = compared.inference->low * sides.row.base_ns;
    sides.row.high_ns = compared.inference->high * sides.row.base_ns;
    judged.push_back(&sides);
    p_values.push_back(compared.inference->p_beyond);
  }
  const bool is_other =
      found.verdict == DiffVerdict::slower || found.verdict == DiffVerdict::faster;
  if (!is_other) return;
  const std::vector<char> rejected = statistics::rejected_at(p_values);
  for (std::size_t at = 0; at < judged.size(); ++at) {
    DiffRow& row = judged[at]->row;
    if (rejected[at] != 0) {
      row.verdict = row.change_ns > 0 ? DiffVerdict::slower : DiffVerdict::faster;
    } else if (std::max(std::abs(*row.low_ns), std::abs(*row.high_ns)) <=
               options.min_effect * step.base_ns) {
      row.verdict = DiffVerdict::same;
    }
  }
}

}  // namespace tbtrace::analyses
