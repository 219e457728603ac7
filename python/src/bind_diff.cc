#include <cstdint>
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

#include "arguments.h"
#include "diff.h"
#include "diff_sides.h"
#include "module.h"
#include "python_trace.h"
#include "sources.h"
#include "sql.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

void save_baseline(nb::handle path, nb::handle side, bool overwrite) {
  const std::string place = output_path(path, "write_baseline()");
  const std::vector<PythonRun> runs = side_of(side, "write_baseline", diff_arguments());
  const nb::gil_scoped_release working;
  check(write_baseline(sums_of_sides(runs, {}).base.figures, place, overwrite), place);
}

PythonDiff make_diff(nb::handle base, nb::handle changed, double min_effect,
                     std::optional<double> run_noise) {
  const DiffOptions options = diff_options(min_effect, run_noise);
  const std::vector<PythonRun> before = side_of(base, "diff", diff_arguments());
  const std::vector<PythonRun> after = side_of(changed, "diff", diff_arguments());
  const nb::gil_scoped_release working;
  const BothSums sums = sums_of_sides(before, after);
  return {std::make_shared<const Diff>(
      value_of(diff(sums.base.figures, sums.changed.figures, options)))};
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
  nb::class_<PythonDiff> bound(module, "Diff",
                               "What changed between recordings of a program. `print()` shows it. "
                               "Immutable. Made by diff().");
  define_sql(bound,
             "The answer to a query in SQL, as Trace.sql(). The tables are `part`, `operator`, "
             "`shape`, `kernel`,\n`module` and `line`, which are those of table(), and "
             "`quantities`. Times are in ns. Raises ValueError for a wrong query.\n\n"
             "    diff.sql(\"select key, change_ns from operator order by change_ns\").df()");
  bound.def("__str__", text_of)
      .def("__repr__", text_of)
      .def_prop_ro(
          "verdict",
          [](const PythonDiff& self) { return std::string(diff_verdict_name(self.diff->verdict)); },
          "'slower', 'faster', 'same' or 'inconclusive': of the step.")
      .def_prop_ro(
          "why", [](const PythonDiff& self) { return self.diff->why; },
          "What the verdict rests on, a sentence or two.")
      .def_prop_ro(
          "sentence", [](const PythonDiff& self) { return self.diff->sentence; },
          "What changed and what explains it; empty if the sides are not comparable or the same.")
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
           "the last two are\nthe interval of the change, as a share. Times are in ns.\n\n"
           "    diff.quantities().to_pandas()")
      .def(
          "table", table, "by"_a = "operator",
          "What explains the change, per step: by 'part', 'operator', 'shape', 'kernel', 'module'\n"
          "or 'line'. Times in ns; `change_ns` adds up to the change of the step. Raises "
          "ValueError\n"
          "for another part.\n\n"
          "    diff.table(\"kernel\").to_pandas()")
      .def(
          "check", check_limit, "limit"_a,
          "Whether a limit such as 'step_time>+3%' is 'exceeded', 'kept' or 'inconclusive', and a\n"
          "sentence with the figures. Raises ValueError if the limit cannot be understood.\n\n"
          "    diff.check(\"step_time>+3%\")[0]",
          nb::sig("def check(self, limit: str) -> tuple[str, str]"))
      .def(
          "__reduce__",
          [](const PythonDiff& /*self*/) -> nb::object {
            throw nb::type_error("a Diff cannot be pickled: send diff.to_dict(), or a table of it");
          },
          nb::sig("def __reduce__(self) -> typing.NoReturn"))
      .def("to_dict", to_dict,
           "The command line's JSON object, `tbtrace.diff/1`: times in ns, shares from 0 to 1.\n\n"
           "    diff.to_dict()[\"step\"]",
           nb::sig("def to_dict(self) -> dict[str, typing.Any]"));

  module.def(
      "diff", make_diff, "base"_a, "new"_a, nb::kw_only(), "min_effect"_a = 0.01,
      "run_noise"_a = nb::none(),
      "What changed from `base` to `new`, each a run: a Trace, a TraceSet of its ranks, or the "
      "path of\na trace, of a folder with those of its ranks, or of a baseline, which has several "
      "runs; or a list\n"
      "of runs, which are repeats. A Job is the run of its files, which are read again. "
      "`min_effect`: the smallest change of the step that matters, as "
      "a\n"
      "share. `run_noise`: the standard deviation of the mean step from run to run, as a share, "
      "if\n"
      "the runs are too few to show it. Raises TraceError if a run cannot be read, ValueError for "
      "a\n"
      "wrong argument. Other threads of Python run meanwhile.\n\n"
      "    tbtrace.diff(\"before.json.gz\", \"after.json.gz\").verdict",
      nb::sig("def diff(base: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], "
              "new: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], *, "
              "min_effect: float = 0.01, run_noise: float | None = None) -> Diff"));
  module.def(
      "write_baseline", save_baseline, "path"_a, "runs"_a, nb::kw_only(), "overwrite"_a = false,
      "Writes runs, as diff() takes them, to a file of at most 100 KB, to compare later runs "
      "with.\nRaises FileExistsError if the file exists, unless `overwrite`, and TraceError if a "
      "run "
      "cannot be\nread.\n\n"
      "    tbtrace.write_baseline(\"base.tbb\", [\"before.json.gz\"])",
      nb::sig("def write_baseline(path: str | os.PathLike[str], "
              "runs: str | os.PathLike[str] | Trace | TraceSet | _Job | "
              "collections.abc.Sequence[str | os.PathLike[str] | Trace | TraceSet | _Job], *, "
              "overwrite: bool = False) -> None"));
}

}  // namespace tbtrace::python
