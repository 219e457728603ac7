#include "summary.h"

#include <utility>

#include <nanobind/stl/string.h>

#include "arguments.h"
#include "module.h"
#include "python_table.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

std::string text_of(const PythonSummary& summary) {
  SummaryTextOptions options;
  options.stragglers = summary.stragglers;
  return summary_text(*summary.traces, options);
}

nb::object to_dict(const PythonSummary& summary) {
  return from_json(summary_json(*summary.traces, summary.stragglers));
}

nb::object findings(const PythonSummary& summary) { return to_dict(summary)["findings"]; }

PythonTable table(const PythonSummary& summary) {
  AnalysisReport report;
  report.schema = "tbtrace.summary/1";
  report.table = summary_table(*summary.traces, summary.stragglers);
  report.shown = report.table.columns;
  return python_table(std::move(report));
}

}  // namespace

void bind_summary(nb::module_& module) {
  nb::class_<PythonSummary>(module, "Summary",
                            "The first page about a trace or the traces of a job: what ran, what "
                            "the time went to, and what to do\nabout it. `print()` shows it. "
                            "Immutable.")
      .def("__str__", text_of)
      .def("__repr__", text_of)
      .def_prop_ro("findings", findings,
                   "What costs time or memory, the most expensive first: `id`, `severity`, "
                   "`title`, `evidence`,\n`share` and `remedy` of each.",
                   nb::sig("def findings(self) -> list[dict[str, typing.Any]]"))
      .def("to_dict", to_dict, "The command line's JSON object, `tbtrace.summary/1`.",
           nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("table", table, "The same as rows, one per figure.");
}

}  // namespace tbtrace::python
