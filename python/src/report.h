// The page about traces as Python's object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/trace.h>
#include <tbtrace/views.h>

#include "arguments.h"
#include "python_trace.h"

namespace tbtrace::python {

struct PythonReport {
  std::shared_ptr<const std::string> html;
};

using NamedTraces = std::vector<std::pair<const Trace*, std::string>>;

/// A page of these traces. Without the GIL.
PythonReport report_of(const NamedTraces& traces, const std::optional<std::string>& title,
                       const std::optional<Names>& views, nanobind::handle source_root,
                       std::int64_t limit);

/// A page of a memory snapshot. Without the GIL.
PythonReport report_of(const MemorySnapshot& snapshot, const std::string& name,
                       const std::optional<std::string>& title, const std::optional<Names>& views,
                       std::int64_t limit);

/// A page of the traces of a Job, which are read again, one at a time.
PythonReport report_of_job(nanobind::handle job, const std::optional<std::string>& title,
                           const std::optional<Names>& views, nanobind::handle source_root,
                           std::int64_t limit);

/// Adds `report` to a class; `traces_of(owner)` are its traces with their names.
template <typename Owner, typename TracesOf>
void add_report_method(nanobind::class_<Owner>& owner, TracesOf traces_of) {
  namespace nb = nanobind;
  using namespace nb::literals;
  owner.def(
      "report",
      [traces_of](const Owner& self, const std::optional<std::string>& title,
                  const std::optional<Names>& views, nb::handle source_root, std::int64_t limit) {
        need(view_arguments(), self, "report");
        return report_of(traces_of(self), title, views, source_root, limit);
      },
      nb::kw_only(), "title"_a = nb::none(), "views"_a = nb::none(), "source_root"_a = nb::none(),
      "limit"_a = 2'000'000,
      "One page that shows all there is, complete in one file. `views`: only these.\n"
      "`source_root`: a directory; lines in source files below it are shown with their text.\n"
      "`limit`: of its size in bytes; rows and frames are left out to keep it, and counted in it.\n"
      "Raises ValueError for a view that there is not.\n\n"
      "    trace.report(title=\"one step\").save(\"report.html\")",
      nb::sig("def report(self, *, title: str | None = None, "
              "views: str | collections.abc.Sequence[str] | None = None, "
              "source_root: str | os.PathLike[str] | None = None, "
              "limit: int = 2000000) -> Report"));
}

/// The document of a view.
nanobind::bytes view_of(const PythonTrace& trace, const std::string& name);

/// The timeline of a part of the time, or of all of it.
nanobind::bytes timeline_of(const PythonTrace& trace, std::optional<std::int64_t> from_ns,
                            std::optional<std::int64_t> to_ns);

/// What the trace has of a range of its timeline.
nanobind::bytes range_of(const PythonTrace& trace, std::int64_t track, std::int64_t start_ns,
                         std::int64_t duration_ns, const std::string& name, std::int64_t nth);

}  // namespace tbtrace::python
