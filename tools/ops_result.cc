#include "ops_result.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/compat.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>

#include "row_choice.h"

namespace tbtrace::tools {
namespace {

/// torch's numbers assign work to a limited number of operators with its id. If the limit was
/// reached, warns; with strict reading, fails.
Status check_limit(const Trace& trace, const std::string& input, bool strict, Console& console) {
  const std::uint64_t limited = trace.device() ? trace.links().work_over_operator_limit : 0;
  if (limited == 0) return {};
  const std::string text = "more than " + std::to_string(LinkReport::kMostOperators) +
                           " operators have the same External id; only the first ones get its "
                           "kernels, memcpys and memsets; "
                           "--strict-totals counts each of these once [work_over_operator_limit, " +
                           std::to_string(limited) + " x]";
  if (strict) return {StatusCode::check_failed, "strict reading failed: " + text};
  console.warning(subject_of(input), text);
  return {};
}

bool has_frames(const Trace& trace) {
  const Events& events = trace.events();
  for (std::size_t event = 0; event < events.size(); ++event) {
    if (events.is_python_frame(static_cast<EventId>(event))) return true;
  }
  return false;
}

}  // namespace

OpsResult::OpsResult(const OpsOptions& ops, const StandardOptions& standard, Console& console)
    : ops_(ops), standard_(standard), console_(console) {
  if (!keeps_traces(ops)) exact_.emplace(ops.summary);
}

void OpsResult::add(const Trace& trace) {
  if (ops_.summary.group_by_stack_n > 0) {
    const bool has = has_frames(trace);
    any_frames_ = any_frames_ || has;
    if (!has && missing_stacks_.empty()) {
      missing_stacks_ = missing_data_text(trace, RecordedOption::with_stack);
      lost_stacks_ = recorded_option(trace, RecordedOption::with_stack).is_lost();
    }
  }
  if (exact_) {
    exact_->add(trace);
  } else {
    traces_.push_back(&trace);
  }
}

Status OpsResult::write(std::span<const JoinedInput> inputs, const std::string& output) {
  subject_ = inputs.size() == 1 ? subject_of(inputs.front().path) : "ops";
  // The summary comes first, because it finds the links in parallel; check_limit() would find them
  // on one thread.
  std::optional<Result<std::string>> text;
  if (!ops_.per_event) {
    const Result<OperatorSummary> made = summary();
    if (!made.ok()) return made.status();
    text = text_of(*made);
  }
  if (Status within = check_limits(inputs); !within.ok()) return within;
  if (!text) return write_list(output);
  return text->ok() ? write_text(**text, output, standard_.overwrite) : text->status();
}

Status OpsResult::write(const Partial& partial, const Subjects& subjects) {
  subject_ = subjects.input;
  const Result<OperatorSummary> summary = operator_summary(partial, ops_.summary);
  if (!summary.ok()) return summary.status();
  const Result<std::string> text = text_of(*summary);
  return text.ok() ? write_text(*text, subjects.output, standard_.overwrite) : text.status();
}

Status OpsResult::check_limits(std::span<const JoinedInput> inputs) {
  if (ops_.figures != Figures::torch) return {};
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    Status within =
        check_limit(*traces_[input], inputs[input].path, standard_.reading.strict, console_);
    if (!within.ok()) return within;
  }
  return {};
}

Result<OperatorSummary> OpsResult::summary() {
  if (exact_) return std::move(*exact_).finish();
  return operator_summary(traces_, ops_.figures, ops_.summary);
}

Result<std::string> OpsResult::text_of(const OperatorSummary& summary) {
  say_if_not_grouped(summary);
  for (const std::string& note : summary.data().notes) console_.message(subject_, note);
  const TableOptions table = table_of(summary);
  say_row_counts(table, summary.count_rows(table), subject_, console_);
  if (ops_.output.format == TableFormat::text) return summary.table(table);
  if (ops_.steps) console_.message(subject_, "only " + steps_text(*ops_.steps));
  Result<AnalysisReport> report = summary.report(table);
  if (!report.ok()) return report.status();
  if (ops_.steps) {
    report->facts.emplace_back("first_step", ops_.steps->first);
    report->facts.emplace_back("last_step", ops_.steps->last);
  }
  return report_text(*report, {.format = ops_.output.format});
}

TableOptions OpsResult::table_of(const OperatorSummary& summary) const {
  TableOptions table = ops_.table;
  if (ops_.sorts_by_self_time) {
    table.sort_by = summary.data().use_device ? "self_device_time_total" : "self_cpu_time_total";
  }
  return table;
}

Status OpsResult::write_list(const std::string& output) {
  RowCounts counts;
  Status written =
      write_events(traces_, output, ops_.output.format, ops_.table, standard_.overwrite, &counts);
  if (written.ok()) say_row_counts(ops_.table, counts, subject_, console_);
  return written;
}

/// Says that grouping by stack had no effect, if so, and what to do.
void OpsResult::say_if_not_grouped(const OperatorSummary& summary) {
  const auto rows = summary.rows();
  if (ops_.summary.group_by_stack_n <= 0 ||
      std::any_of(rows.begin(), rows.end(), [](auto& row) { return !row.stack.empty(); })) {
    return;
  }
  std::string text;
  std::string remedy = any_frames_ || missing_stacks_.empty() ? "" : "; " + missing_stacks_;
  switch (ops_.summary.stack_source) {
    case StackSource::call_stack:
      text = "no operator has a call stack";
      if (any_frames_) {
        remedy += "; --stack-source frames takes the stacks from the Python frames in the file";
      } else if (!lost_stacks_) {
        remedy += " and use --stack-source frames";
      }
      break;
    case StackSource::frames:
      text = "no operator is inside a Python frame";
      break;
    case StackSource::either:
      text = "no operator has a call stack or is inside a Python frame";
      break;
  }
  console_.message(subject_, text + ", so --group-by-stack-n changes nothing" + remedy);
}

}  // namespace tbtrace::tools
