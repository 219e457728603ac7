// All checks of a trace.
#include <algorithm>
#include <array>
#include <utility>

#include <tbtrace/checks.h>

#include "analyses/checks/list.h"
#include "analyses/recording/sliced.h"

namespace tbtrace {
namespace {

using analyses::Check;
using analyses::CheckHits;

constexpr auto kError = CheckSeverity::error;
constexpr auto kWarning = CheckSeverity::warning;
constexpr auto kInfo = CheckSeverity::info;

constexpr std::array kChecks = {
    Check{kRecoveredTrace, kInfo, "", "", analyses::find_recovered_trace},
    Check{"part_of_a_trace", kInfo, "", "look at the whole for what was left out",
          analyses::find_part_of_a_trace},
    Check{"no_events", kError, "the trace has no events",
          "check that the profiler reached its active steps, and call step() after each one",
          analyses::find_no_events},
    Check{"event_limit", kWarning,
          "the trace has exactly 1,000,000 events, the limit of some writers, so the rest may be "
          "missing",
          "record fewer steps", analyses::find_event_limit},
    Check{"dropped_windows", kWarning,
          "earlier windows were dropped because the export could not keep up, or could not be "
          "written",
          "record fewer or shorter windows, and look at the warnings of the run",
          analyses::find_dropped_windows},
    Check{"lost_records", kError, "host records were lost because memory or the journal was full",
          "record fewer steps; if there was a journal, let it have more room (`max_bytes`)",
          analyses::find_lost_records},
    Check{"damaged_parts", kError,
          "parts of the recording are damaged, and their records are missing",
          "do not compare this trace with complete ones; if the program wrote it itself, look for "
          "writes out of bounds, for instance with AddressSanitizer",
          analyses::find_damaged_parts},
    Check{"lost_device_records", kError, "device records were lost because buffers were full",
          "record fewer steps", analyses::find_lost_device_records},
    Check{"device_tracing_failed", kWarning, "the device could not be recorded",
          "run `tbtrace --version --verbose` on the machine that records",
          analyses::find_failed_device_tracing},
    Check{"device_tracing_incomplete", kWarning, "the device was not recorded completely",
          "do what the message says, and do not take what is missing for idle time",
          analyses::find_incomplete_device_tracing},
    Check{"stopped_early", kError,
          "CUPTI ran out of buffer memory and stopped before the recording ended",
          "record fewer steps, or set a larger buffer", analyses::find_stopped_early},
    Check{"out_of_range_records", kInfo,
          "Kineto dropped device records that lie outside the recording's window",
          "if there are more than the trace has events, check the clocks of host and device",
          analyses::find_out_of_range_records},
    Check{"profiler_errors", kInfo, "the profiler logged errors while it recorded",
          "read them in the member ERROR of the file", analyses::find_profiler_errors},
    Check{"launches_without_kernels", kWarning,
          "kernel launches have no kernel in the trace: device records are missing",
          "synchronize the device before the recording stops, and record fewer steps",
          analyses::find_launches_without_kernels, "kernels"},
    Check{
        "device_not_recorded", kWarning,
        "operators ran on a GPU, and nothing of the GPU was recorded: times of operators are those "
        "of the host",
        "record with ProfilerActivity.CUDA (or XPU) too", analyses::find_unrecorded_device,
        "kernels"},
    Check{"operators_not_recorded", kWarning,
          "kernels were recorded, and no operators, so what launched them is unknown",
          "record with ProfilerActivity.CPU too", analyses::find_unrecorded_operators, "operators"},
    Check{"kernels_without_launch", kWarning,
          "kernels, memcpys or memsets have no launch in the trace, so their operator may be "
          "unknown; what is known of none is [unattributed] in summaries",
          "record CPU activities too, and start the recording before the first launch",
          analyses::find_kernels_without_launch, "calls"},
    Check{"work_before_launch", kWarning,
          "device activities start before their launch: the device's clock is off",
          "do not trust launch delays and idle times; update the driver or the profiler",
          analyses::find_work_before_launch},
    Check{"repeated_correlations", kWarning,
          "launches share a correlation id, so kernels may be linked to the wrong launch",
          "update the profiler that wrote the trace", analyses::find_repeated_correlations},
    Check{"repeated_external_ids", kWarning,
          "operators share an External id, so kernels may be linked to the wrong operator",
          "update the profiler that wrote the trace", analyses::find_repeated_external_ids},
    Check{"invalid_external_ids", kInfo,
          "the External id of launches repeats the correlation id, so kernels are linked to "
          "operators by time",
          "nothing to do; torch 2.5 and later writes valid ids",
          analyses::find_invalid_external_ids},
    Check{"misplaced_device_work", kWarning,
          "device activities lie far outside the recording or before their launch; windows, idle "
          "time, shares and steps are without them",
          "update the driver or the profiler; durations of these activities may still be right",
          analyses::find_misplaced_work},
    Check{"stream_overruns", kWarning, "", "do not trust the durations of these activities",
          analyses::find_stream_overruns},
    Check{"zero_durations", kWarning, "device activities have no duration",
          "update the driver or the profiler", analyses::find_zero_durations},
    Check{"clock_jumps", kWarning,
          "nothing happens for ten minutes or more: the clock jumped, or events have wrong times",
          "look at the events around the gap", analyses::find_clock_jumps},
    Check{"unrecorded_device_work", kWarning,
          "the host waits for a device on which nothing recorded runs any more: device activity "
          "is missing, such as that of a graph with loops or conditions, or of another process",
          "do not trust idle times; record the work without the graph",
          analyses::find_unrecorded_work, "kernels"},
    Check{"times_of_zero", kWarning,
          "events are at time 0, long before all others: their times were lost; windows, idle "
          "time, shares and steps are without them",
          "update the profiler that wrote the trace, and record again",
          analyses::find_times_of_zero},
    Check{"missing_steps", kWarning, "step numbers are missing",
          "check that step() is called after each step, and that the trace is complete",
          analyses::find_missing_steps},
    Check{"steps_without_device_work", kWarning,
          "steps launched no device activity while others did",
          "leave these steps out, and synchronize the device before the recording stops",
          analyses::find_steps_without_device_work, "kernels"},
    Check{"compilation_in_steps", kWarning,
          "steps contain compilation or autotuning, which the other steps do not have: means over "
          "steps are not those of the program in the long run",
          "run a few steps before the recording (schedule(wait=..., warmup=...)), or leave these "
          "steps out",
          analyses::find_compilation_in_steps},
};

void add_issues(const Trace& trace, std::vector<CheckFinding>& findings) {
  for (const Issue& issue : trace.issues()) {
    CheckFinding finding;
    finding.id = issue.id;
    finding.count = issue.count;
    // Nothing of the text was lost, but what was made of it may be wrong.
    const bool is_doubtful = issue.id == "writer_unknown";
    finding.severity = is_doubtful                        ? kWarning
                       : issue.severity == Severity::info ? kInfo
                       : issue.id == "input_truncated"    ? kError
                       : issue.id == "input_damaged"      ? kError
                                                          : kWarning;
    if (!issue.offsets.empty()) finding.example_offset = issue.offsets[0];
    // The last part of a sentence is what to do, unless nothing was lost.
    const std::size_t last = issue.severity == Severity::info && !is_doubtful
                                 ? std::string_view::npos
                                 : issue.sentence.rfind("; ");
    finding.cause = issue.sentence.substr(0, last);
    if (last != std::string_view::npos) finding.remedy = issue.sentence.substr(last + 2);
    findings.push_back(std::move(finding));
  }
}

void sort_by_severity(std::vector<CheckFinding>& findings) {
  const auto place = [](const CheckFinding& finding) {
    return std::pair(finding.id != kRecoveredTrace, finding.severity);
  };
  std::ranges::stable_sort(findings, {}, place);
}

}  // namespace

std::vector<CheckFinding> trace_checks(const Trace& trace) {
  std::vector<CheckFinding> findings;
  add_issues(trace, findings);
  for (const Check& check : kChecks) {
    if (!check.needs.empty() && analyses::was_left_out(trace, check.needs)) continue;
    CheckHits hits(trace);
    check.run(trace, hits);
    if (hits.count == 0) continue;
    CheckFinding finding;
    finding.id = check.id;
    finding.severity = hits.severity.value_or(check.severity);
    finding.count = hits.count;
    finding.example = std::move(hits.example);
    finding.example_at_ns = hits.at_ns;
    finding.cause = hits.cause.empty() ? check.cause : hits.cause;
    finding.remedy = hits.remedy.empty() ? check.remedy : hits.remedy;
    findings.push_back(std::move(finding));
  }
  analyses::add_lost_options(trace, findings);
  sort_by_severity(findings);
  return findings;
}

}  // namespace tbtrace
