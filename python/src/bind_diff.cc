#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/diff.h>
#include <tbtrace/trace_set.h>

#include "arguments.h"
#include "diff.h"
#include "module.h"
#include "python_trace.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

/// The recordings of one run, kept alive; or a path to read them from.
struct PythonRun {
  std::string name;
  std::vector<std::shared_ptr<const Trace>> ranks = {};
  bool is_path = false;
};

bool is_path(nb::handle one) {
  return nb::isinstance<nb::str>(one) || nb::hasattr(one, "__fspath__");
}

PythonRun run_of(nb::handle one) {
  if (is_path(one)) return {.name = path_of(one), .is_path = true};
  if (nb::isinstance<PythonTrace>(one)) {
    const auto& trace = nb::cast<const PythonTrace&>(one);
    need(diff_arguments(), trace, "diff");
    return {trace.name, {trace.trace}};
  }
  if (nb::isinstance<PythonTraceSet>(one)) {
    const auto& set = nb::cast<const PythonTraceSet&>(one);
    need(diff_arguments(), set, "diff");
    PythonRun run;
    for (const TraceOfSet& trace : *set.traces) {
      run.ranks.emplace_back(set.traces, &trace.trace);
      if (run.name.empty()) run.name = trace.path;
    }
    return run;
  }
  wrong_argument("a run is a path, a Trace or a TraceSet");
}

/// A side: one run, or a list of them.
std::vector<PythonRun> side_of(nb::handle side) {
  std::vector<PythonRun> runs;
  if (!nb::isinstance<nb::list>(side) && !nb::isinstance<nb::tuple>(side)) {
    runs.push_back(run_of(side));
    return runs;
  }
  for (const nb::handle one : side) runs.push_back(run_of(one));
  return runs;
}

/// Adds the runs of a baseline, or the one of a trace or of the traces of a folder.
void add_runs_of_path(const std::string& path, std::vector<RunFigures>& figures) {
  const FoundTraces traces = find_traces({path});
  for (const UnreadInput& unread : traces.unread) check(unread.status, unread.path);
  const bool is_file = traces.paths.size() == 1 && traces.paths.front() == path;
  if (is_file && value_of(is_baseline_file(path), path)) {
    std::vector<RunFigures> runs = value_of(read_baseline(path), path);
    std::ranges::move(runs, std::back_inserter(figures));
    return;
  }
  RunSum sum(path);
  for (const std::string& rank : traces.paths) {
    const Trace trace = value_of(read_trace(rank, {.arguments = diff_arguments()}), rank);
    check(sum.add(trace), rank);
  }
  figures.push_back(sum.figures());
}

std::vector<RunFigures> figures_of_side(const std::vector<PythonRun>& runs) {
  std::vector<RunFigures> figures;
  for (const PythonRun& run : runs) {
    if (run.is_path) {
      add_runs_of_path(run.name, figures);
      continue;
    }
    RunSum sum(run.name);
    for (const auto& rank : run.ranks) check(sum.add(*rank), run.name);
    figures.push_back(sum.figures());
  }
  return figures;
}

void save_baseline(nb::handle path, nb::handle side, bool overwrite) {
  const std::string place = path_of(path);
  const std::vector<PythonRun> runs = side_of(side);
  const nb::gil_scoped_release working;
  check(write_baseline(figures_of_side(runs), place, overwrite), place);
}

PythonDiff make_diff(nb::handle base, nb::handle changed, double min_effect,
                     std::optional<double> run_noise) {
  if (!(min_effect >= 0 && min_effect < 1)) wrong_argument("min_effect is from 0 to below 1");
  if (run_noise && !(*run_noise > 0)) wrong_argument("run_noise is above 0");
  const std::vector<PythonRun> before = side_of(base);
  const std::vector<PythonRun> after = side_of(changed);
  const nb::gil_scoped_release working;
  return {std::make_shared<const Diff>(
      value_of(diff(figures_of_side(before), figures_of_side(after),
                    {.min_effect = min_effect, .run_noise = run_noise})))};
}

DiffBy division(const std::string& name) {
  const std::optional<DiffBy> by = diff_by_named(name);
  if (!by) wrong_argument("by is part, operator, shape, kernel, module or line");
  return *by;
}

PythonTable table(const PythonDiff& self, const std::string& by) {
  return python_table(diff_rows_report(*self.diff, division(by)));
}

std::string text_of(const PythonDiff& self) {
  return value_of(diff_text(*self.diff, {.row_limit = 10}));
}

nb::object to_dict(const PythonDiff& self) {
  return from_json(value_of(diff_text(*self.diff, {.format = TableFormat::json})));
}

nb::dict step_of(const PythonDiff& self) { return nb::borrow<nb::dict>(to_dict(self)["step"]); }

PythonTable quantities(const PythonDiff& self) {
  return python_table(diff_quantities_report(*self.diff));
}

nb::tuple check_limit(const PythonDiff& self, const std::string& limit) {
  Result<DiffLimit> parsed = parse_diff_limit(limit);
  if (!parsed.ok()) wrong_argument(parsed.status().message());
  const LimitResult result = check_diff_limit(*self.diff, *parsed);
  const char* const word = result.verdict == LimitVerdict::exceeded ? "exceeded"
                           : result.verdict == LimitVerdict::kept   ? "kept"
                                                                    : "inconclusive";
  return nb::make_tuple(word, result.sentence);
}

}  // namespace

void bind_diff(nb::module_& module) {
  nb::class_<PythonDiff>(module, "Diff",
                         "What changed between recordings of a program. `print()` shows it. "
                         "Immutable. Made by diff().")
      .def("__str__", text_of)
      .def("__repr__", text_of)
      .def_prop_ro(
          "verdict",
          [](const PythonDiff& self) { return std::string(diff_verdict_name(self.diff->verdict)); },
          "'slower', 'faster', 'same' or 'inconclusive': of the step.")
      .def_prop_ro(
          "why", [](const PythonDiff& self) { return self.diff->why; },
          "What the verdict rests on, a sentence or two.")
      .def_prop_ro(
          "comparable",
          [](const PythonDiff& self) {
            return std::string(comparable_name(self.diff->comparable));
          },
          "'yes', 'warning' or 'no'.")
      .def_prop_ro(
          "reasons", [](const PythonDiff& self) { return self.diff->reasons; },
          "Why not, or with a warning: a sentence each.")
      .def_prop_ro("step", step_of,
                   "The step of all runs: `base_ns`, `new_ns`, `change` (a share), its 99.7 % "
                   "interval `low`\nto `high` and `resolvable`, the smallest slowdown that would "
                   "have been found, or None\nwhere the runs allow none.",
                   nb::sig("def step(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "base", [](const PythonDiff& self) { return self.diff->base_names; },
          "The runs before the change.")
      .def_prop_ro(
          "new", [](const PythonDiff& self) { return self.diff->new_names; },
          "The runs after the change.")
      .def("quantities", quantities,
           "What else changed, per step: times in which GPUs were busy or idle, launches, FLOPs, "
           "samples,\nand peaks of memory in bytes. Columns `name`, `base`, `new`, `low`, `high`: "
           "the last two are\nthe interval of the change, as a share.")
      .def(
          "table", table, "by"_a = "operator",
          "What explains the change, per step: by 'part', 'operator', 'shape', 'kernel', 'module'\n"
          "or 'line'. Times in ns; `change_ns` adds up to the change of the step.")
      .def(
          "check", check_limit, "limit"_a,
          "Whether a limit such as 'step_time>+3%' is 'exceeded', 'kept' or 'inconclusive', and a\n"
          "sentence with the figures.",
          nb::sig("def check(self, limit: str) -> tuple[str, str]"))
      .def("to_dict", to_dict, "The command line's JSON object, `tbtrace.diff/1`.",
           nb::sig("def to_dict(self) -> dict[str, typing.Any]"));

  module.def(
      "diff", make_diff, "base"_a, "new"_a, nb::kw_only(), "min_effect"_a = 0.01,
      "run_noise"_a = nb::none(),
      "What changed from `base` to `new`, each a run: a Trace, a TraceSet of its ranks, or the "
      "path of\na trace, of a folder with those of its ranks, or of a baseline, which has several "
      "runs; or a list\n"
      "of runs, which are repeats. `min_effect`: the smallest change of the step that matters, as "
      "a\n"
      "share. `run_noise`: the standard deviation of the mean step from run to run, as a share, "
      "if\n"
      "the runs are too few to show it. Other threads of Python run meanwhile.",
      nb::sig("def diff(base: str | os.PathLike[str] | Trace | TraceSet | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet], "
              "new: str | os.PathLike[str] | Trace | TraceSet | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet], *, "
              "min_effect: float = 0.01, run_noise: float | None = None) -> Diff"));
  module.def(
      "write_baseline", save_baseline, "path"_a, "runs"_a, nb::kw_only(), "overwrite"_a = false,
      "Writes runs, as diff() takes them, to a file of at most 100 KB, to compare later runs "
      "with.\nFails if the file exists, unless `overwrite` is True.",
      nb::sig("def write_baseline(path: str | os.PathLike[str], "
              "runs: str | os.PathLike[str] | Trace | TraceSet | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet], *, "
              "overwrite: bool = False) -> None"));
}

}  // namespace tbtrace::python
