// What is missing or contradictory in a trace, with its cause and what to do about it.
// Results own their texts; plain values that any number of threads may read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

enum class CheckSeverity : std::uint8_t {
  error,    ///< results are wrong or incomplete
  warning,  ///< some results may be
  info,     ///< good to know; results are not affected
};
std::string_view check_severity_name(CheckSeverity severity);

/// docs/formats/check.md lists all ids and thresholds.
struct CheckFinding {
  std::string id;  ///< stable, `kernels_without_launch`
  CheckSeverity severity = CheckSeverity::info;
  std::uint64_t count = 0;
  std::string example = {};                          ///< the first one's name, or in which numbers
  std::optional<std::int64_t> example_at_ns = {};    ///< since the window's start
  std::optional<std::uint64_t> example_offset = {};  ///< where, in bytes of the uncompressed file
  std::string cause = {};
  std::string remedy = {};
};

/// The id of the check that comes before all others: a trace was recovered from a journal.
inline constexpr std::string_view kRecoveredTrace = "recovered_trace";

/// Empty if the trace is sound. First that it was recovered from a journal (`recovered_trace`),
/// then errors, then warnings; otherwise in the order of the checks, after the problems that the
/// reader found. Takes O(n log n) time for n events.
std::vector<CheckFinding> trace_checks(const Trace& trace);

/// What the checks of several traces need of each.
struct CheckedTrace {
  std::string input;
  TraceIdentity identity;
  std::int64_t start_ns = 0;  ///< of its window, since 1970
  std::int64_t end_ns = 0;
};
CheckedTrace checked_trace(const std::string& input, const Trace& trace);

/// Whether traces that were given together are those of one job: ranks that are missing or there
/// twice. Empty for less than two traces.
std::vector<CheckFinding> job_checks(std::span<const CheckedTrace> traces);

/// An input with its findings. The findings of several traces together have an empty input.
struct CheckedInput {
  std::string input;
  std::vector<CheckFinding> findings;
  SourceReport source = {};
};
CheckedInput checked_input(const std::string& input, const Trace& trace);

/// Rows of `tbtrace.check/1`: which inputs were recovered from a journal, then the errors of all
/// inputs, then the warnings, then the infos.
AnalysisReport checks_report(std::span<const CheckedInput> inputs);

/// Whether any finding is an error or a warning.
bool has_error_or_warning(std::span<const CheckedInput> inputs);

}  // namespace tbtrace
