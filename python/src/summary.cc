#include "summary.h"

#include <utility>

#include <nanobind/stl/string.h>

#include "arguments.h"
#include "failures.h"
#include "module.h"
#include "python_table.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

nb::object to_dict(const PythonSummary& summary) { return from_json(summary.forms->json); }

nb::object findings(const PythonSummary& summary) { return to_dict(summary)["findings"]; }

PythonTable table(const PythonSummary& summary) { return python_table(summary.forms->table); }

/// The findings as a table, then the page as it is printed.
nb::str html(const PythonSummary& summary) {
  AnalysisReport report;
  report.table.columns = {"share", "finding", "remedy"};
  report.shown = report.table.columns;
  for (const nb::handle finding : findings(summary)) {
    const auto text = [&](const char* key) { return Cell(nb::cast<std::string>(finding[key])); };
    const nb::object share = finding["share"];
    report.table.rows.push_back(
        {share.is_none() ? Cell() : Cell(nb::cast<double>(share)), text("title"), text("remedy")});
  }
  std::string page = report.table.rows.empty() ? "" : value_of(report_html(report));
  page += "<pre>";
  page += nb::cast<std::string>(
      nb::module_::import_("html").attr("escape")(text_object(summary.forms->text)));
  return text_object(page + "</pre>\n");
}

nb::tuple state_of(const PythonSummary& summary) {
  return nb::make_tuple(text_object(summary.forms->text), text_object(summary.forms->json),
                        table_state(table(summary)));
}

PythonSummary of_state(const nb::tuple& state) {
  const PythonTable table = table_of_state(nb::cast<nb::tuple>(state[2]));
  return PythonSummary(SummaryForms{text_bytes(state[0]), text_bytes(state[1]),
                                    table.data->part(0, table.data->size())});
}

}  // namespace

PythonSummary::PythonSummary(const std::vector<TraceSummary>& traces,
                             const std::optional<StragglerResult>& stragglers) {
  SummaryForms made;
  SummaryTextOptions options;
  options.stragglers = stragglers;
  made.text = summary_text(traces, options);
  made.json = summary_json(traces, stragglers);
  made.table.schema = "tbtrace.summary/1";
  made.table.table = summary_table(traces, stragglers);
  made.table.shown = made.table.table.columns;
  forms = std::make_shared<const SummaryForms>(std::move(made));
}

void bind_summary(nb::module_& module) {
  nb::class_<PythonSummary> summary(
      module, "Summary",
      "The first page about a trace or the traces of a job: what ran, what the time went to, and "
      "what to do\nabout it. `print()` shows it, and so does a notebook. Immutable; `pickle` takes "
      "it.");
  summary
      .def(
          "__str__", [](const PythonSummary& self) { return text_object(self.forms->text); },
          nb::sig("def __str__(self) -> str"))
      .def(
          "__repr__", [](const PythonSummary& self) { return text_object(self.forms->text); },
          nb::sig("def __repr__(self) -> str"))
      .def("_repr_html_", html, nb::sig("def _repr_html_(self) -> str"))
      .def("__getstate__", state_of, nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](PythonSummary& self, const nb::tuple& state) {
            new (&self) PythonSummary(of_state(state));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def_prop_ro(
          "findings", findings,
          "What costs time or memory, the most expensive first: `id`, `severity`, "
          "`title`, `evidence`,\n`share` and `remedy` of each; before them that the "
          "trace was recovered from a\njournal (`recovered_trace`), with a `share` of None.",
          nb::sig("def findings(self) -> list[dict[str, typing.Any]]"))
      .def("to_dict", to_dict,
           "The command line's JSON object, `tbtrace.summary/1`: times in ns, sizes in bytes.\n\n"
           "    summary.to_dict()[\"schema\"]",
           nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("table", table,
           "The same as rows, one per figure, with its unit.\n\n    summary.table().to_pandas()");
  add_copies(summary, "Summary");
}

}  // namespace tbtrace::python
