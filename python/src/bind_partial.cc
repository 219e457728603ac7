#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/job_analysis.h>
#include <tbtrace/jobs.h>
#include <tbtrace/partial.h>
#include <tbtrace/summary.h>

#include "arguments.h"
#include "flame_graph.h"
#include "module.h"
#include "operators.h"
#include "partials/content.h"
#include "report.h"
#include "sources.h"
#include "sql.h"
#include "summary.h"
#include "table_methods.h"
#include "trace/issues.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

PythonPartial shared(Partial partial) {
  return {std::make_shared<const Partial>(std::move(partial))};
}

PythonPartial from_bytes(const nb::bytes& bytes) {
  const std::string_view content(bytes.c_str(), bytes.size());
  const nb::gil_scoped_release working;
  return shared(value_of(parse_partial(content)));
}

nb::bytes to_bytes(const PythonPartial& partial) {
  std::string bytes;
  {
    const nb::gil_scoped_release working;
    bytes = value_of(partial_bytes(*partial.partial));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

PythonPartial read(nb::handle path) {
  const std::string place = input_path(path);
  const FileHere file(place);
  const nb::gil_scoped_release working;
  Result<Partial> partial = read_partial(file.path());
  return shared(read_value(std::move(partial), place));
}

void save(const PythonPartial& partial, nb::handle path, bool overwrite) {
  const std::string place = output_path(path, "save()");
  const nb::gil_scoped_release working;
  check(write_partial(*partial.partial, place, overwrite), place);
}

PythonPartial renamed(const PythonPartial& partial, nb::handle name) {
  const std::string called = path_of(name);
  const nb::gil_scoped_release working;
  Partial copy = partial.partial->copy();
  check(copy.rename(called));
  return shared(std::move(copy));
}

PythonPartial merge(const std::vector<PythonPartial>& partials) {
  if (partials.empty()) wrong_argument("merge() takes at least one partial");
  const nb::gil_scoped_release working;
  Partial sum = partials.front().partial->copy();
  for (std::size_t next = 1; next < partials.size(); ++next) {
    check(sum.merge(*partials[next].partial));
  }
  return shared(std::move(sum));
}

/// Whether an issue means that a part of the trace is missing. Unknown ones are of a newer version.
bool loses_data(std::string_view id) {
  const auto row = std::ranges::find(kIssueTable, id, &IssueRow::id);
  return row == kIssueTable.end() || row->severity == Severity::data_loss;
}

nb::list sources(const PythonPartial& partial) {
  nb::list sources;
  const std::vector<partials::SourceContent>& contents = partial.partial->content().of_sources;
  std::size_t number = 0;
  for (const PartialSource& source : partial.partial->sources()) {
    nb::dict row;
    nb::dict issues;
    bool is_damaged = false;
    for (const auto& [id, count] : contents[number++].report.issues) {
      issues[id.c_str()] = count;
      is_damaged = is_damaged || loses_data(id);
    }
    row["start_ns"] = source.start_ns;
    row["events"] = source.events;
    row["issues"] = issues;
    row["damaged"] = is_damaged;
    row["digest"] = source.digest;
    row["name"] = path_object(source.name);
    row["rank"] = source.rank;
    row["host"] = source.host;
    row["process"] = source.process;
    sources.append(row);
  }
  return sources;
}

PythonOperators operators(const PythonPartial& partial, const std::optional<Names>& group_by,
                          const std::string& figures) {
  choice("figures", figures, {"exact"});
  SummaryOptions options =
      summary_options(group_by, partial.partial->options().group_by_stack_n, "auto");
  options.stack_source = partial.partial->options().stack_source;
  const nb::gil_scoped_release working;
  return PythonOperators(value_of(operator_summary(*partial.partial, options)));
}

/// The sources as the ranks of one job.
JobAnalysis job_of(const PythonPartial& partial) {
  return analyse_job(value_of(rank_records(*partial.partial)));
}

PythonTable collectives(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return python_table(collectives_report(job_of(partial)));
}

PythonTable clocks(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return python_table(clocks_report(job_of(partial)));
}

PythonTable stragglers(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return python_table(stragglers_report(job_of(partial)));
}

std::vector<std::int64_t> ranks_without_source(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return value_of(missing_ranks(find_jobs(partial.partial->sources())));
}

/// (path, the path that it repeats).
std::vector<std::pair<nb::object, nb::object>> repeated(const PythonPartial& partial) {
  std::vector<std::pair<nb::object, nb::object>> repeated;
  for (const RepeatedFile& file : repeated_files(find_jobs(partial.partial->sources()))) {
    repeated.emplace_back(path_object(file.file.path), path_object(file.repeats));
  }
  return repeated;
}

/// The lines of the traces, and what is said of the job as a whole.
PythonSummary summary(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  std::vector<TraceSummary> made = partial_summaries(*partial.partial);
  const std::optional<StragglerResult> stragglers =
      stragglers_of(value_of(rank_records(*partial.partial)));
  if (stragglers) add_straggler_findings(made, *stragglers);
  return PythonSummary(made, stragglers);
}

PythonTable checks(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return python_table(value_of(checks_report(*partial.partial)));
}

std::vector<std::string> remarks(const PythonPartial& partial) {
  const nb::gil_scoped_release working;
  return job_remarks(find_jobs(partial.partial->sources()));
}

}  // namespace

void bind_partial(nb::module_& module) {
  nb::class_<PythonPartial> partial(
      module, "Partial",
      "The tables of one trace, or of many, in a form that adds up: exact figures of operators,\n"
      "kernels, modules, lines and stacks over all sources; steps, GPU use and memory of each;\n"
      "collectives, clocks and stragglers of the job whose ranks they are.\n"
      "A few 100 kB for a trace of 500 MB. Immutable; `pickle` takes it.");
  define_sql(partial);
  partial
      .def_static(
          "read", read, "path"_a,
          "A partial from a `.tbp` file, as `tbtrace save` writes it. Raises TraceError.\n\n"
          "    tbtrace.Partial.read(\"rank0.tbp\")",
          nb::sig("def read(path: str | os.PathLike[str]) -> Partial"))
      .def_static(
          "from_bytes", from_bytes, "data"_a,
          "The partial that to_bytes() was called for. Raises TraceError for other bytes.\n\n"
          "    tbtrace.Partial.from_bytes(partial.to_bytes())")
      .def("to_bytes", to_bytes,
           "The content of its file, not compressed.\n\n    len(partial.to_bytes())")
      .def("save", save, "path"_a, nb::kw_only(), "overwrite"_a = false,
           "Writes a `.tbp` file. It appears complete or not at all. Raises FileExistsError if it "
           "is\n"
           "there, unless `overwrite`.\n\n"
           "    partial.save(\"job.tbp\")",
           nb::sig("def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) "
                   "-> None"))
      .def("renamed", renamed, "name"_a,
           "The same partial of one trace with another name for it. Raises ValueError for several\n"
           "traces.\n\n"
           "    tbtrace.read(\"rank0.json.gz\").partial().renamed(\"rank 0\")",
           nb::sig("def renamed(self, name: str) -> Partial"))
      .def("__getstate__", to_bytes)
      .def("__setstate__",
           [](PythonPartial& self, const nb::bytes& bytes) {
             new (&self) PythonPartial(from_bytes(bytes));
           })
      .def("__repr__",
           [](const PythonPartial& self) {
             return "<tbtrace.Partial: " + std::to_string(self.partial->sources().size()) +
                    " traces>";
           })
      .def("__len__", [](const PythonPartial& self) { return self.partial->sources().size(); })
      .def_prop_ro("sources", sources,
                   "The traces in it, by the hash of their content: `digest`, `name`, `rank`, "
                   "`host`, `process`,\n`start_ns` (Unix time, None if unknown), `events` (None in "
                   "partials of older "
                   "versions), `issues` "
                   "(how often, by id), and `damaged`,\nwhether an issue means that a part is "
                   "missing.",
                   nb::sig("def sources(self) -> list[dict[str, typing.Any]]"))
      .def(
          "operators", operators, "group_by"_a = nb::none(), nb::kw_only(), "figures"_a = "exact",
          "A row per operator, summed over all sources. `group_by`: of 'shape', 'stack' and\n"
          "'overload_name'. Figures are exact: times in ns that add up, with rows `[idle]` and\n"
          "`[unattributed]`. Raises ValueError for what partials are not grouped by.\n\n"
          "    partial.operators(\"shape\").to_pandas()",
          nb::sig("def operators(self, group_by: typing.Literal['shape', 'stack', 'overload_name'] "
                  "| collections.abc.Sequence[typing.Literal['shape', 'stack', 'overload_name']] "
                  "| None = None, *, figures: typing.Literal['exact'] = 'exact') -> Operators"));
  partial
      .def("collectives", collectives,
           "The collectives of the job whose ranks the sources are, as TraceSet.collectives(). A\n"
           "partial has at most 2,000 of each trace, the same ones on all ranks; `notes` says if\n"
           "some are left out.\n\n"
           "    partial.collectives().to_pandas()")
      .def(
          "checks", checks,
          "What is missing or contradictory in the traces and among them, as TraceSet.checks().\n\n"
          "    partial.checks().to_pandas()")
      .def("clocks", clocks,
           "How the clocks of the ranks differ, as TraceSet.clocks(): times in ns.\n\n"
           "    partial.clocks().to_pandas()")
      .def(
          "stragglers", stragglers,
          "The ranks that hold up the job, as TraceSet.stragglers(); from all steps, whatever the\n"
          "partial leaves out. Times in ns.\n\n"
          "    partial.stragglers().notes")
      .def_prop_ro("missing_ranks", ranks_without_source,
                   "The ranks of which it has no trace, up to the largest world size that a trace "
                   "names.",
                   nb::sig("def missing_ranks(self) -> list[int]"))
      .def("repeated", repeated,
           "(path, the other one's) of traces with the rank and the start of another one.\n\n"
           "    partial.repeated()",
           nb::sig("def repeated(self) -> list[tuple[str, str]]"))
      .def("summary", summary,
           "A line per trace, and what is said of the job as a whole.\n\n    "
           "print(partial.summary())")
      .def("remarks", remarks,
           "What to know of the job before trusting a result: that ranks are missing or there\n"
           "twice, that the sources are of several jobs or of different versions. A sentence "
           "each.\n\n"
           "    partial.remarks()",
           nb::sig("def remarks(self) -> list[str]"));
  add_table_methods(partial);
  add_flame_graph_method(partial, [](const PythonPartial& self, const FlameGraphOptions& options) {
    return flame_graph(*self.partial, options);
  });

  module.def("merge", merge, "partials"_a,
             "The sum of partials: the same bytes in any order and in any tree. Raises ValueError\n"
             "if a trace is in two of them or if they were made with different options.\n\n"
             "    tbtrace.merge([trace.partial() for trace in ranks])",
             nb::sig("def merge(partials: collections.abc.Sequence[Partial]) -> Partial"));
}

}  // namespace tbtrace::python
