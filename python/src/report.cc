#include "report.h"

#include <tbtrace/report.h>

#include "failures.h"
#include "module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

nb::str html(const PythonReport& report) {
  return nb::str(report.html->data(), report.html->size());
}

/// A notebook shows the page in a frame of its own, which can reach nothing around it.
std::string frame(const PythonReport& report) {
  std::string text =
      "<iframe sandbox=\"allow-scripts allow-downloads\" width=\"100%\" height=\"760\" srcdoc=\"";
  for (const char c : *report.html) {
    if (c == '&') {
      text += "&amp;";
    } else if (c == '"') {
      text += "&quot;";
    } else {
      text += c;
    }
  }
  return text + "\"></iframe>";
}

void save(const PythonReport& report, nb::handle path, bool overwrite) {
  const std::string place = path_of(path);
  const nb::gil_scoped_release working;
  check(write_text(*report.html, place, overwrite), place);
}

}  // namespace

PythonReport report_of(const NamedTraces& traces, const std::optional<std::string>& title,
                       const std::optional<Names>& views, nb::handle source_root,
                       std::int64_t limit) {
  if (limit <= 0) wrong_argument("limit takes a number of bytes");
  ReportPageOptions options;
  options.title = title.value_or("");
  if (views) options.views = listed(*views);
  if (!source_root.is_none()) options.source_root = path_of(source_root);
  options.bytes = static_cast<std::size_t>(limit);
  check(check_report_page_options(options));
  const nb::gil_scoped_release working;
  ReportPage page(std::move(options));
  for (const auto& [trace, name] : traces) check(page.add(*trace, name), name);
  return {std::make_shared<const std::string>(value_of(page.html()))};
}

nb::bytes view_of(const PythonTrace& trace, const std::string& name) {
  need(view_arguments(), trace, "view");
  std::string json;
  {
    const nb::gil_scoped_release working;
    json = value_of(view_document(name, *trace.trace));
  }
  return nb::bytes(json.data(), json.size());
}

void bind_report(nb::module_& module) {
  nb::class_<PythonReport>(
      module, "Report",
      "One page about a trace or several, complete in itself. A notebook shows it. Immutable.")
      .def_prop_ro("html", html, "The page.", nb::sig("def html(self) -> str"))
      .def("_repr_html_", frame, nb::sig("def _repr_html_(self) -> str"))
      .def("save", save, "path"_a, nb::kw_only(), "overwrite"_a = false,
           "Writes the page as a file, complete or not at all. Raises FileExistsError if it is\n"
           "there, unless `overwrite`.",
           nb::sig("def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> "
                   "None"))
      .def("__repr__", [](const PythonReport& report) {
        return "<tbtrace.Report: " + std::to_string(report.html->size()) + " bytes>";
      });
}

}  // namespace tbtrace::python
