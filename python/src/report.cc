#include "report.h"

#include <tbtrace/report.h>

#include "failures.h"
#include "module.h"
#include "sources.h"

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
  const std::string place = output_path(path, "save()");
  const nb::gil_scoped_release working;
  check(write_text(*report.html, place, overwrite), place);
}

ReportPageOptions page_options(const std::optional<std::string>& title,
                               const std::optional<Names>& views, nb::handle source_root,
                               std::int64_t limit) {
  if (limit <= 0) wrong_argument("limit takes a number of bytes");
  ReportPageOptions options;
  options.title = title.value_or("");
  if (views) options.views = listed(*views);
  if (!source_root.is_none()) options.source_root = input_path(source_root);
  options.bytes = static_cast<std::size_t>(limit);
  check(check_report_page_options(options));
  return options;
}

}  // namespace

PythonReport report_of(const NamedTraces& traces, const std::optional<std::string>& title,
                       const std::optional<Names>& views, nb::handle source_root,
                       std::int64_t limit) {
  ReportPage page(page_options(title, views, source_root, limit));
  const nb::gil_scoped_release working;
  for (const auto& [trace, name] : traces) check(page.add(*trace, name), name);
  return {std::make_shared<const std::string>(value_of(page.html()))};
}

PythonReport report_of(const MemorySnapshot& snapshot, const std::string& name,
                       const std::optional<std::string>& title, const std::optional<Names>& views,
                       std::int64_t limit) {
  ReportPage page(page_options(title, views, nb::none(), limit));
  const nb::gil_scoped_release working;
  check(page.add(snapshot, name), name);
  return {std::make_shared<const std::string>(value_of(page.html()))};
}

PythonReport report_of_job(nb::handle job, const std::optional<std::string>& title,
                           const std::optional<Names>& views, nb::handle source_root,
                           std::int64_t limit) {
  ReportPage page(page_options(title, views, source_root, limit));
  const std::vector<std::string> paths = paths_of_job(job);
  if (paths.empty()) wrong_argument("report(): the job has no files");
  for (const nb::handle remark : job.attr("remarks")) {
    page.add_remark(nb::cast<std::string>(remark));
  }
  const nb::gil_scoped_release working;
  for (const std::string& path : paths) {
    const FileHere file(path);
    check(
        page.add(read_value(read_trace(file.path(), {.arguments = view_arguments()}), path), path),
        path);
  }
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

nb::bytes timeline_of(const PythonTrace& trace, std::optional<std::int64_t> from_ns,
                      std::optional<std::int64_t> to_ns) {
  std::string document;
  {
    const nb::gil_scoped_release working;
    constexpr std::int64_t kFar = std::int64_t{1} << 62;
    document =
        from_ns || to_ns
            ? value_of(timeline_part(*trace.trace, from_ns.value_or(-kFar), to_ns.value_or(kFar)))
            : value_of(view_document("timeline", *trace.trace));
  }
  return nb::bytes(document.data(), document.size());
}

nb::bytes range_of(const PythonTrace& trace, std::int64_t track, std::int64_t start_ns,
                   std::int64_t duration_ns, const std::string& name, std::int64_t nth) {
  if (track < 0 || nth < 0) wrong_argument("track and nth are counted from 0");
  const Result<std::string> document =
      range_document(*trace.trace, {static_cast<std::size_t>(track), start_ns, duration_ns, name,
                                    static_cast<std::size_t>(nth)});
  if (!document.ok()) throw nb::key_error(document.status().message().c_str());
  return nb::bytes(document->data(), document->size());
}

nb::list listed_views() {
  nb::list all;
  for (const ViewDescription& view : views()) {
    all.append(nb::make_tuple(std::string(view.name), std::string(view.title)));
  }
  return all;
}

void bind_report(nb::module_& module) {
  module.def(
      "views", listed_views,
      "Names and titles of the page's views, as people see them.\n\n    dict(tbtrace.views())",
      nb::sig("def views() -> list[tuple[str, str]]"));
  module.def("_report_of_job", report_of_job, "job"_a, "title"_a.none(), "views"_a.none(),
             "source_root"_a.none(), "limit"_a,
             nb::sig("def _report_of_job(job: typing.Any, title: str | None, views: str | "
                     "collections.abc.Sequence[str] | None, source_root: str | os.PathLike[str] | "
                     "None, limit: int) -> Report"));
  nb::class_<PythonReport>(
      module, "Report",
      "One page about a trace or several, complete in itself. A notebook shows it. Immutable.")
      .def_prop_ro("html", html, "The page.", nb::sig("def html(self) -> str"))
      .def("_repr_html_", frame, nb::sig("def _repr_html_(self) -> str"))
      .def("save", save, "path"_a, nb::kw_only(), "overwrite"_a = false,
           "Writes the page as a file, complete or not at all. Raises FileExistsError if it is\n"
           "there, unless `overwrite`, OSError if it cannot be written.\n\n"
           "    trace.report().save(\"report.html\")",
           nb::sig("def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> "
                   "None"))
      .def("__getstate__", html, nb::sig("def __getstate__(self) -> str"))
      .def(
          "__setstate__",
          [](PythonReport& report, const std::string& html) {
            new (&report) PythonReport{std::make_shared<const std::string>(html)};
          },
          nb::sig("def __setstate__(self, state: str) -> None"))
      .def("__repr__", [](const PythonReport& report) {
        return "<tbtrace.Report: " + std::to_string(report.html->size()) + " bytes>";
      });
}

}  // namespace tbtrace::python
