#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/checks.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "check_text.h"
#include "colors.h"
#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "table_command.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

class CheckRun {
 public:
  CheckRun(const OptionParser& parser, const TableChoice& table)
      : standard_(parser.standard()), table_(table), console_(standard_.console) {}

  int run() {
    if (const Result<Table> known = report_rows(checks_report({}), table_.report); !known.ok()) {
      return finish(known.status(), subjects_of("check", standard_), console_);
    }
    ReadOptions reading = standard_.reading;
    reading.arguments = table_named("check")->all_arguments();
    InputLoop loop("check", standard_, reading, console_,
                   {.issues_are_results = true, .rank = table_.rank});
    return loop.run(
        [&](const Trace& trace, const std::string& path) {
          const auto work = [&] {
            check(trace, path);
            return Status();
          };
          return finish_work(work, subjects_of_input(path, standard_), console_);
        },
        [&](const Partial& partial, const std::string& path) {
          return finish_work([&] { return add(partial); }, subjects_of_input(path, standard_),
                             console_);
        },
        [&] {
          const int code = write();
          return code == kCheckFailed && loop.has_failed() ? kSomeInputsFailed : code;
        });
  }

 private:
  /// Problems of the input are findings, not warnings.
  void check(const Trace& trace, const std::string& path) {
    inputs_.push_back(checked_input(path, trace));
    traces_.push_back(checked_trace(path, trace));
    recorded_.push_back({path, recorded_lines(recorded_options(trace))});
  }

  /// A partial has the findings, not what was recorded.
  Status add(const Partial& partial) {
    Result<std::vector<CheckedInput>> inputs = checked_inputs(partial);
    if (!inputs.ok()) return inputs.status();
    Result<std::vector<CheckedTrace>> traces = checked_traces(partial);
    if (!traces.ok()) return traces.status();
    std::ranges::move(*inputs, std::back_inserter(inputs_));
    std::ranges::move(*traces, std::back_inserter(traces_));
    return {};
  }

  int write() {
    const Subjects subjects = subjects_of("check", standard_);
    std::vector<CheckFinding> of_job = job_checks(traces_);
    if (!of_job.empty()) inputs_.push_back({"", std::move(of_job)});
    const auto work = [&] {
      const AnalysisReport report = checks_report(inputs_);
      const bool is_text = table_.report.format == TableFormat::text;
      const Result<std::string> text = is_text ? check_text(report, recorded_, table_.report)
                                               : report_text(report, table_.report);
      if (!text.ok()) return text.status();
      const std::string wrapped = wrapped_text(*text, is_text ? terminal_width(standard_) : 0);
      return write_text(is_text ? with_colors(wrapped, standard_) : wrapped, subjects.output,
                        standard_.overwrite);
    };
    const int written = finish_work(work, subjects, console_);
    return written == kDone && has_error_or_warning(inputs_) ? kCheckFailed : written;
  }

  const StandardOptions& standard_;
  const TableChoice& table_;
  Console console_;
  std::vector<CheckedInput> inputs_;
  std::vector<CheckedTrace> traces_;
  std::vector<RecordedInput> recorded_;
};

int run(const OptionParser& parser) {
  const Result<TableChoice> table = TableChoice::of(parser, false);
  if (!table.ok()) return parser.wrong(table.status().message());
  return CheckRun(parser, *table).run();
}

}  // namespace

Command check_command() {
  Command command = table_command(*table_named("check"));
  command.options = {{"Rows",
                      {sort_option(table_named("check")->sort_keys), row_limit_option(),
                       RankChoice::option(), RankChoice::iteration_option()}},
                     {"Layout", {format_option()}}};
  command.run = run;
  return command;
}

}  // namespace tbtrace::tools
