// Options of reports that are wrong whatever the trace.
#include <string>
#include <utility>

#include <tbtrace/report.h>

#include "trace/step_names.h"
#include "trace/trace_builder.h"

namespace tbtrace {
namespace {

/// A trace of one empty step if there are steps to select, else of nothing.
Trace smallest_trace(const std::optional<StepRange>& steps) {
  TraceBuilder builder;
  if (steps) {
    EventRow step;
    step.name = builder.intern(step_name(steps->first));
    step.category = builder.category(builder.intern("user_annotation"));
    step.track = builder.track({}, {});
    step.duration_ns = 1;
    builder.add_event(step);
  }
  return std::move(builder).finish();
}

}  // namespace

Status check_report_options(const AnalyseTrace& analyse, const ReportOptions& options,
                            const std::optional<StepRange>& steps) {
  const bool is_added_later = options.sort_by == "input";
  if (options.sort_by.empty() || is_added_later) return {};
  const Result<AnalysisReport> report = analyse(smallest_trace(steps));
  if (!report.ok()) return {};
  return report_rows(*report, options).status();
}

}  // namespace tbtrace
