#include <algorithm>
#include <string>

#include <tbtrace/analysis_context.h>
#include <tbtrace/checks.h>
#include <tbtrace/tables.h>

#include "analyses/recording/sliced.h"

namespace tbtrace {
namespace {

constexpr const char* kRecordDevices = "record CUDA activities too";

/// If launches show that device activities were recorded and lost, what may have taken them; if
/// operators show which device they ran on, how its activities are recorded. Empty if the trace has
/// some.
std::string missing_device_text(const Trace& trace) {
  if (analyses::was_left_out(trace, "kernels")) return analyses::left_out_text(trace, "kernels");
  const bool has_some = std::ranges::any_of(
      trace.by_start(), [&](EventId event) { return is_device_work(trace.kind(event)); });
  for (const CheckFinding& check : trace_checks(trace)) {
    if (check.id == "device_not_recorded" && !has_some) return check.cause + "; " + check.remedy;
    const bool lost_all = check.severity == CheckSeverity::error;
    if (check.id != "launches_without_kernels" || !lost_all) continue;
    return std::to_string(check.count) +
           (check.count == 1 ? " launch was recorded, but its kernel is missing: "
                             : " launches were recorded, but their kernels are missing: ") +
           check.remedy;
  }
  return has_some ? "" : kRecordDevices;
}

std::string missing_text(const Trace& trace, const NoRows& no_rows) {
  const auto of_option = [&](RecordedOption option) {
    const bool is_there = !no_rows.if_recorded.empty() && recorded_option(trace, option).has_data;
    return is_there ? std::string(no_rows.if_recorded) : missing_data_text(trace, option);
  };
  switch (no_rows.needs) {
    case NeededData::any:
      break;
    case NeededData::device_activities:
      return missing_device_text(trace);
    case NeededData::allocations:
      return of_option(RecordedOption::profile_memory);
    case NeededData::stacks:
      return of_option(RecordedOption::with_stack);
    case NeededData::modules:
      return missing_modules_text(trace);
  }
  return {};
}

std::string_view how_to_record(NeededData needed) {
  switch (needed) {
    case NeededData::any:
      break;
    case NeededData::device_activities:
      return kRecordDevices;
    case NeededData::allocations:
      return "record with profile_memory=True";
    case NeededData::stacks:
      return "record with with_stack=True";
    case NeededData::modules:
      return "record with with_stack=True, or in C++ with attach()";
  }
  return {};
}

/// Whether the trace has what the rows are made of.
bool has_data(const Trace& trace, NeededData needed) {
  if (needed == NeededData::allocations) return !trace.memory().empty();
  if (needed != NeededData::device_activities) return false;
  return std::ranges::any_of(trace.by_start(),
                             [&](EventId event) { return trace.kind(event) == EventKind::kernel; });
}

}  // namespace

std::string why_no_rows(const TableDescription& table, const OptionValues& options,
                        const Trace* trace) {
  const NoRows no_rows =
      table.no_rows_with == nullptr ? table.no_rows : table.no_rows_with(options);
  const Figures figures = chosen_figures(table, options);
  if (trace != nullptr && figures != Figures::exact && has_data(*trace, no_rows.needs)) {
    return std::string(figures == Figures::plugin ? "torch-tb-profiler" : "HolisticTraceAnalysis") +
           " shows nothing of this trace here, by rules of its own; the exact figures have rows";
  }
  const std::string more =
      trace == nullptr ? std::string(how_to_record(no_rows.needs)) : missing_text(*trace, no_rows);
  return std::string(no_rows.text) + (more.empty() ? "" : "; " + more);
}

}  // namespace tbtrace
