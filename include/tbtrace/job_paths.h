// What would make the steps of a job shorter: its ranks replayed together.
// Plain values; pure functions that any number of threads may call.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// A recording of a rank. Refers to the trace.
struct RankTrace {
  const Trace* trace = nullptr;
  std::string path;
};

/// A table of traces that are analysed together.
struct JoinedReport {
  std::optional<AnalysisReport> report;  ///< nullopt: each trace has its own
  std::string problem;  ///< why each has, as a part of a sentence; empty if they are not a job
};

/// The table `whatif` or `critical_path` of the ranks of a job, replayed together: joined where
/// they wait for each other. Needs kRankArguments besides the arguments of the table. Takes
/// O(n log n) time, and for collectives whose ranks end one after the other (broadcasts, sends) the
/// square of their ranks.
Result<JoinedReport> job_path_report(const TableDescription& table,
                                     std::span<const RankTrace> traces,
                                     const OptionValues& options);

/// Whether job_path_report() makes it.
bool joins_ranks(const TableDescription& table);

/// What is to be said if each rank has its own report.
std::string note_of_problem(const JoinedReport& joined);

}  // namespace tbtrace
