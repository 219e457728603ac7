#include "job_tables.h"

#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/job_paths.h>

#include "failures.h"
#include "report.h"

namespace tbtrace::python {

std::optional<PythonTable> job_table(const PythonTraceSet& set, const TableDescription& table,
                                     const OptionValues& options, std::string& note) {
  if (!joins_ranks(table)) return std::nullopt;
  const nanobind::gil_scoped_release working;
  std::vector<RankTrace> traces;
  for (const SharedTrace& each : set.traces()) traces.push_back({each.trace.get(), each.path});
  JoinedReport joined = value_of(job_path_report(table, traces, options));
  if (joined.report) return python_table(*std::move(joined.report));
  if (!joined.problem.empty()) note = note_of_problem(joined);
  return std::nullopt;
}

}  // namespace tbtrace::python
