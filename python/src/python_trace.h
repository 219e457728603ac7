// Traces, sets of traces and partials as Python's objects, and how each makes the table of an
// analysis.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/arguments.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>
#include <tbtrace/trace_set.h>

#include "failures.h"
#include "python_table.h"
#include "workers.h"

namespace tbtrace::python {

struct PythonTrace {
  std::shared_ptr<const Trace> trace;
  std::string name;
};

/// A trace of a set, which others may hold as well.
struct SharedTrace {
  std::string path;
  std::optional<std::int64_t> rank;
  std::shared_ptr<const Trace> trace;
};

/// By rank and path, as TraceSet has them.
struct SharedTraces {
  std::vector<SharedTrace> traces;
  std::vector<UnreadInput> unread;
};

struct PythonTraceSet {
  std::shared_ptr<const SharedTraces> shared;
  int workers = 0;

  const std::vector<SharedTrace>& traces() const { return shared->traces; }
};

struct PythonPartial {
  std::shared_ptr<const Partial> partial;
};

/// Where the times of a trace's tables count from.
inline std::int64_t base_time_ns(const Trace& trace) {
  std::int64_t start = 0;
  const bool is_absurd =
      __builtin_add_overflow(trace.base_time_ns(), trace.window_start_ns(), &start);
  return is_absurd ? trace.base_time_ns() : start;
}

/// A ValueError if a table needs arguments that were not read.
inline void need(ArgumentSet needed, const PythonTrace& trace, const char* table) {
  check(trace.trace->check_read(needed, table));
}
inline void need(ArgumentSet needed, const PythonTraceSet& set, const char* table) {
  for (const SharedTrace& one : set.traces()) check(one.trace->check_read(needed, table));
}

// The table that `make` makes of a Trace or of a Partial. If it has no rows, its notes say why:
// `why(trace)` is what the command line says of the trace, or of a partial with nullptr. Without
// the GIL.

template <typename Make, typename Why>
PythonTable table_of(const PythonTrace& trace, const Make& make, const Why& why) {
  const nanobind::gil_scoped_release working;
  AnalysisReport report = value_of(make(*trace.trace));
  if (report.table.rows.empty()) report.notes.push_back(why(trace.trace.get()));
  return python_table(std::move(report), base_time_ns(*trace.trace));
}

template <typename Make, typename Why>
PythonTable table_of(const PythonPartial& partial, const Make& make, const Why& why) {
  const nanobind::gil_scoped_release working;
  AnalysisReport report = value_of(make(*partial.partial));
  if (report.table.rows.empty()) report.notes.push_back(why(nullptr));
  return python_table(std::move(report));
}

/// The rows of all traces, by rank.
template <typename Make, typename Why>
PythonTable table_of(const PythonTraceSet& set, const Make& make, const Why& why) {
  const nanobind::gil_scoped_release working;
  const std::vector<SharedTrace>& traces = set.traces();
  std::vector<std::optional<Result<AnalysisReport>>> made(traces.size());
  for_each_number(traces.size(), set.workers,
                  [&](std::size_t number) { made[number].emplace(make(*traces[number].trace)); });
  std::vector<ReportOfInput> reports;
  std::vector<RowsOfBase> bases;  // a set has its traces in the order of the rows
  for (std::size_t number = 0; number < made.size(); ++number) {
    const SharedTrace& trace = traces[number];
    reports.push_back({trace.rank, trace.path, value_of(*std::move(made[number]), trace.path)});
    bases.push_back({reports.back().report.table.rows.size(), base_time_ns(*trace.trace)});
  }
  AnalysisReport joined = join_inputs(std::move(reports), traces.size() > 1);
  if (joined.table.rows.empty()) joined.notes.push_back(why(traces[0].trace.get()));
  PythonTable table = python_table(std::move(joined));
  table.bases = std::move(bases);
  return table;
}

}  // namespace tbtrace::python
