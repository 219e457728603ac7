// The checks of a trace, one row each. To add one, declare a function here, write it in one of the
// check_*.cc files, and add its row to kChecks in trace_checks.cc and to docs/formats/check.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/checks.h>
#include <tbtrace/trace.h>

#include "base/bounded_sum.h"
#include "trace/times.h"

namespace tbtrace::analyses {

/// More than this share of all, in percent.
inline bool exceeds(std::uint64_t part, std::uint64_t all, std::uint64_t percent) {
  return WideInteger{part} * 100 > WideInteger{all} * percent;
}

/// What a check found: how often, and the first one.
class CheckHits {
 public:
  explicit CheckHits(const Trace& trace) : trace_(trace) {}

  void add(EventId event) {
    if (count++ == 0) describe(event);
  }
  void add(std::string_view what) {
    if (count++ == 0) example = what;
  }
  void describe(EventId event) {
    example = trace_.name(event);
    at_ns = since_start(trace_, trace_.events().start_ns(event));
  }

  std::uint64_t count = 0;
  std::string example;
  std::optional<std::int64_t> at_ns;  // since the start of the trace's window
  /// Replaces the severity of the check's row.
  std::optional<CheckSeverity> severity;
  std::string remedy;  ///< if not empty, likewise
  std::string cause;   ///< likewise

 private:
  const Trace& trace_;
};

/// Findings of options that were on and left no data, one per option (recorded_options.cc).
void add_lost_options(const Trace& trace, std::vector<CheckFinding>& findings);

struct Check {
  std::string_view id;
  CheckSeverity severity;
  std::string_view cause;
  std::string_view remedy;
  void (*run)(const Trace& trace, CheckHits& hits);
  /// Rows that slicing may have left out; then they are not missing. Empty: none.
  std::string_view needs = {};
};

// Launches and what they launched (links.cc).
void find_launches_without_kernels(const Trace& trace, CheckHits& hits);
void find_kernels_without_launch(const Trace& trace, CheckHits& hits);
void find_work_before_launch(const Trace& trace, CheckHits& hits);
void find_repeated_correlations(const Trace& trace, CheckHits& hits);
void find_repeated_external_ids(const Trace& trace, CheckHits& hits);
void find_invalid_external_ids(const Trace& trace, CheckHits& hits);

// Kinds of activities that the recording lacks (activities.cc).
void find_unrecorded_device(const Trace& trace, CheckHits& hits);
void find_unrecorded_operators(const Trace& trace, CheckHits& hits);

// Times and steps (times.cc).
void find_misplaced_work(const Trace& trace, CheckHits& hits);
void find_stream_overruns(const Trace& trace, CheckHits& hits);
void find_zero_durations(const Trace& trace, CheckHits& hits);
void find_clock_jumps(const Trace& trace, CheckHits& hits);
void find_unrecorded_work(const Trace& trace, CheckHits& hits);
void find_times_of_zero(const Trace& trace, CheckHits& hits);
void find_missing_steps(const Trace& trace, CheckHits& hits);
void find_steps_without_device_work(const Trace& trace, CheckHits& hits);
void find_compilation_in_steps(const Trace& trace, CheckHits& hits);

// What the recording says of itself (recording.cc).
void find_part_of_a_trace(const Trace& trace, CheckHits& hits);
void find_recovered_trace(const Trace& trace, CheckHits& hits);
void find_no_events(const Trace& trace, CheckHits& hits);
void find_event_limit(const Trace& trace, CheckHits& hits);
void find_dropped_windows(const Trace& trace, CheckHits& hits);
void find_lost_records(const Trace& trace, CheckHits& hits);
void find_damaged_parts(const Trace& trace, CheckHits& hits);
void find_lost_device_records(const Trace& trace, CheckHits& hits);
void find_failed_device_tracing(const Trace& trace, CheckHits& hits);
void find_incomplete_device_tracing(const Trace& trace, CheckHits& hits);
void find_out_of_range_records(const Trace& trace, CheckHits& hits);
void find_stopped_early(const Trace& trace, CheckHits& hits);
void find_profiler_errors(const Trace& trace, CheckHits& hits);

}  // namespace tbtrace::analyses
