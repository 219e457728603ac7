// How often a comparison of equal runs raises an alarm, and how often a slowdown of an operator is
// found, by resampling recorded runs.
//
//   tbtrace_diff_alarms [--check] RUN.json.gz...    in the order in which they were made
//
// Alarms: 1,000 comparisons of 10 runs a side, drawn without putting back. Power: 200 such pairs,
// in which the operator with the most time gets so much longer on one side that the step takes
// longer by what the comparison says it could resolve. Drift: the first half against the second.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/diff.h>
#include <tbtrace/trace.h>

namespace {

using tbtrace::Diff;
using tbtrace::DiffBy;
using tbtrace::DiffVerdict;
using tbtrace::RunFigures;

constexpr std::size_t kSide = 10;
constexpr int kComparisons = 1000;
constexpr int kTrials = 200;
constexpr std::size_t kOperator = static_cast<std::size_t>(DiffBy::op);

std::vector<RunFigures> read_runs(std::span<char*> paths) {
  std::vector<RunFigures> runs;
  for (const char* const path : paths) {
    const tbtrace::Result<tbtrace::Trace> trace =
        tbtrace::read_trace(path, {.arguments = tbtrace::diff_arguments()});
    tbtrace::RunSum sum(path);
    if (!trace.ok() || !sum.add(*trace).ok()) {
      std::fprintf(stderr, "%s: cannot be read\n", path);
      std::exit(3);
    }
    runs.push_back(sum.figures());
  }
  return runs;
}

struct Sides {
  std::vector<RunFigures> base;
  std::vector<RunFigures> changed;
};

Sides drawn(const std::vector<RunFigures>& runs, std::mt19937_64& random) {
  std::vector<std::size_t> order(runs.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random() % at]);
  Sides sides;
  for (std::size_t at = 0; at < kSide; ++at) {
    sides.base.push_back(runs[order[at]]);
    sides.changed.push_back(runs[order[kSide + at]]);
  }
  return sides;
}

/// Makes the row with the most time longer, so that the mean step takes `share` longer.
std::string slow_down(std::vector<RunFigures>& runs, double share) {
  const auto by_time = [](const tbtrace::RunRow& one, const tbtrace::RunRow& other) {
    return one.ns < other.ns;
  };
  const std::vector<tbtrace::RunRow>& rows = runs.front().rows[kOperator];
  const std::string key = std::max_element(rows.begin(), rows.end(), by_time)->key;
  for (RunFigures& run : runs) {
    std::int64_t added = 0;
    for (std::int64_t& ns : run.step_ns) {
      const std::int64_t more = std::llround(share * static_cast<double>(ns));
      ns += more;
      added += more;
    }
    for (tbtrace::RunRow& row : run.rows[kOperator]) {
      if (row.key == key) row.ns += added;
    }
  }
  return key;
}

bool is_alarm(const Diff& diff) {
  return diff.verdict == DiffVerdict::slower || diff.verdict == DiffVerdict::faster;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_checked = argc > 1 && std::string_view(argv[1]) == "--check";
  const auto first = static_cast<std::size_t>(is_checked ? 2 : 1);
  const std::span<char*> paths(argv + first, static_cast<std::size_t>(argc) - first);
  if (paths.size() < 2 * kSide) {
    std::fprintf(stderr, "usage: tbtrace_diff_alarms [--check] RUN.json.gz..., at least 20\n");
    return 2;
  }
  const std::vector<RunFigures> runs = read_runs(paths);
  std::mt19937_64 random(1);
  int alarms = 0;
  int row_alarms = 0;
  for (int number = 0; number < kComparisons; ++number) {
    const Sides sides = drawn(runs, random);
    const Diff diff = *tbtrace::diff(sides.base, sides.changed);
    alarms += is_alarm(diff) ? 1 : 0;
    bool has_row = false;
    for (const tbtrace::DiffRow& row : diff.rows[kOperator]) {
      has_row = has_row || row.verdict == DiffVerdict::slower || row.verdict == DiffVerdict::faster;
    }
    row_alarms += has_row ? 1 : 0;
  }
  int found = 0;
  int named = 0;
  double resolvable = 0;
  for (int number = 0; number < kTrials; ++number) {
    Sides sides = drawn(runs, random);
    const Diff before = *tbtrace::diff(sides.base, sides.changed);
    const double share = *before.step.resolvable;
    resolvable += share / kTrials;
    const std::string key = slow_down(sides.changed, share);
    const Diff after = *tbtrace::diff(sides.base, sides.changed);
    if (after.verdict != DiffVerdict::slower) continue;
    ++found;
    named += after.rows[kOperator].front().key == key ? 1 : 0;
  }
  const std::size_t half = runs.size() / 2;
  const Diff in_order = *tbtrace::diff(std::span(runs).first(half), std::span(runs).last(half));
  std::printf("%zu runs: %d alarms of the step and %d with an operator in %d comparisons\n",
              runs.size(), alarms, row_alarms, kComparisons);
  std::printf("slowdowns of %.1f %% on average: %d of %d found, the operator first in %d\n",
              100 * resolvable, found, kTrials, named);
  std::printf("first half against second: %s. %s\n",
              std::string(tbtrace::diff_verdict_name(in_order.verdict)).c_str(),
              in_order.why.c_str());
  const bool is_good = alarms <= 4 && found >= 0.85 * kTrials && named >= 0.95 * found;
  return is_checked && !is_good ? 1 : 0;
}
