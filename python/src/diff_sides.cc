#include "diff_sides.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <tbtrace/trace_set.h>

#include "arguments.h"
#include "python_trace.h"
#include "sources.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

void add_runs(nb::handle one, const char* what, ArgumentSet needed, std::vector<PythonRun>& runs) {
  if (nb::isinstance<nb::str>(one) || nb::hasattr(one, "__fspath__")) {
    std::vector<std::string> paths;
    if (is_remote(one)) {
      paths = remote_matches(one);
    } else {
      paths = run_paths(input_path(one));
    }
    for (const std::string& path : paths) runs.push_back({.name = path, .paths = {path}});
    return;
  }
  if (nb::isinstance<PythonTrace>(one)) {
    const auto& trace = nb::cast<const PythonTrace&>(one);
    need(needed, trace, what);
    runs.push_back({trace.name, {trace.trace}});
    return;
  }
  if (nb::isinstance<PythonTraceSet>(one)) {
    const auto& set = nb::cast<const PythonTraceSet&>(one);
    need(needed, set, what);
    PythonRun run;
    for (const SharedTrace& trace : set.traces()) {
      run.ranks.push_back(trace.trace);
      if (run.name.empty()) run.name = trace.path;
    }
    runs.push_back(std::move(run));
    return;
  }
  if (is_job(one)) {
    PythonRun run;
    run.paths = paths_of_job(one);
    if (run.paths.empty()) wrong_argument(std::string(what) + ": the job has no files");
    run.name = run.paths.front();
    runs.push_back(std::move(run));
    return;
  }
  if (nb::isinstance<PythonPartial>(one)) {
    wrong_argument(
        std::string(what) +
        " compares steps, and a partial has sums only: pass the traces, the job, or what "
        "write_baseline() kept of them");
  }
  wrong_argument(std::string(what) +
                 " takes paths, Trace, TraceSet, Job, or a list of them; memory "
                 "snapshots are compared by before.diff(after)");
}

class SumOfRun {
 public:
  SumOfRun(const std::string& name, bool with_stacks) : figures_(name), with_stacks_(with_stacks) {
    stacks_.name = name;
  }

  void add(const Trace& rank, const std::string& name) {
    check(figures_.add(rank), name);
    if (with_stacks_) check(add_stacks(stacks_, rank), name);
  }

  void end(SideSums& side) {
    side.figures.push_back(figures_.figures());
    if (with_stacks_) side.stacks.push_back(std::move(stacks_));
  }

 private:
  RunSum figures_;
  bool with_stacks_;
  RunStacks stacks_;
};

void add_paths(const PythonRun& run, bool with_stacks, SideSums& side) {
  const FoundTraces traces = found_anywhere(run.paths);
  for (const UnreadInput& unread : traces.unread) check_read(unread.status, unread.path);
  const bool is_file = traces.paths == run.paths && run.paths.size() == 1;
  ArgumentSet arguments = diff_arguments();
  if (with_stacks) arguments = arguments | run_stacks_arguments();
  SumOfRun sum(run.name, with_stacks);
  for (const std::string& rank : traces.paths) {
    const FileHere file(rank);
    if (is_file && read_value(is_baseline_file(file.path()), rank)) {
      std::vector<RunFigures> kept = read_value(read_baseline(file.path()), rank);
      std::ranges::move(kept, std::back_inserter(side.figures));
      return;
    }
    const Trace trace = read_value(read_trace(file.path(), {.arguments = arguments}), rank);
    check(trace.check_not_merged(), rank);
    sum.add(trace, rank);
  }
  sum.end(side);
}

SideSums sums_of_side(const std::vector<PythonRun>& runs, bool with_stacks) {
  SideSums side;
  for (const PythonRun& run : runs) {
    if (!run.paths.empty()) {
      add_paths(run, with_stacks, side);
      continue;
    }
    SumOfRun sum(run.name, with_stacks);
    for (const auto& rank : run.ranks) sum.add(*rank, run.name);
    sum.end(side);
  }
  return side;
}

}  // namespace

std::vector<PythonRun> side_of(nb::handle side, const char* what, ArgumentSet needed) {
  std::vector<PythonRun> runs;
  if (!nb::isinstance<nb::list>(side) && !nb::isinstance<nb::tuple>(side)) {
    add_runs(side, what, needed, runs);
    return runs;
  }
  for (const nb::handle one : side) add_runs(one, what, needed, runs);
  return runs;
}

BothSums sums_of_sides(const std::vector<PythonRun>& base, const std::vector<PythonRun>& changed,
                       bool with_stacks) {
  try {
    return {sums_of_side(base, with_stacks), sums_of_side(changed, with_stacks)};
  } catch (const Failure& failure) {
    if (failure.missing_path().empty()) throw;
    std::vector<std::string> paths;
    for (const auto* const side : {&base, &changed}) {
      for (const PythonRun& run : *side) {
        paths.insert(paths.end(), run.paths.begin(), run.paths.end());
      }
    }
    check_there(paths);
    throw;
  }
}

DiffOptions diff_options(double min_effect, std::optional<double> run_noise) {
  if (!(min_effect >= 0 && min_effect < 1)) wrong_argument("min_effect is from 0 to below 1");
  if (run_noise && !(*run_noise > 0)) wrong_argument("run_noise is above 0");
  return {.min_effect = min_effect, .run_noise = run_noise};
}

}  // namespace tbtrace::python
