#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/recorded_options.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace_checks.h>
#include <tbtrace/writers.h>

#include "check_text.h"
#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
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
    const Subjects subjects = subjects_of("check", standard_);
    if (const Status place = check_output(subjects.output, standard_.overwrite); !place.ok()) {
      return finish(place, subjects, console_);
    }
    if (const Result<Table> known = report_rows(check_report({}), table_.report); !known.ok()) {
      return finish(known.status(), subjects, console_);
    }
    const InputPaths found = find_inputs(standard_, console_);
    last_failure_ = found.last_failure;
    for (const std::string& path : found.paths) check(path);
    if (inputs_.empty()) {
      return last_failure_ != kDone ? last_failure_ : table_.rank.say_none("check", console_);
    }
    std::vector<CheckFinding> of_job = job_checks(traces_);
    if (!of_job.empty()) inputs_.push_back({"", std::move(of_job)});
    const Status written = within_memory([&] {
      const AnalysisReport report = check_report(inputs_);
      const Result<std::string> text = table_.report.format == TableFormat::text
                                           ? check_text(report, recorded_, table_.report)
                                           : report_text(report, table_.report);
      const std::size_t width =
          table_.report.format == TableFormat::text ? terminal_width(standard_) : 0;
      return text.ok()
                 ? write_text(wrapped_text(*text, width), subjects.output, standard_.overwrite)
                 : text.status();
    });
    if (!written.ok()) return finish(written, subjects, console_);
    if (last_failure_ != kDone) return kSomeInputsFailed;
    return has_error_or_warning(inputs_) ? kCheckFailed : kDone;
  }

 private:
  void fail(const std::string& path, const Status& status) {
    console_.error(subject_of(path), status.message());
    last_failure_ = exit_code(status);
  }

  /// Problems of the input are findings, not warnings.
  void check(const std::string& path) {
    ReadOptions reading = standard_.reading;
    reading.arguments = table_named("check")->all_arguments();
    const std::string subject = subject_of(path);
    reading.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      console_.progress(subject, done, total);
      return true;
    };
    const Status checked = within_memory([&] {
      const Result<Trace> trace = read_trace(path, reading);
      if (!trace.ok()) return trace.status();
      if (!table_.rank.takes(*trace)) return Status();
      inputs_.push_back(checked_input(path, *trace));
      traces_.push_back(checked_trace(path, *trace));
      recorded_.push_back({path, recorded_lines(recorded_options(*trace))});
      return Status();
    });
    if (!checked.ok()) fail(path, checked);
  }

  const StandardOptions& standard_;
  const TableChoice& table_;
  Console console_;
  std::vector<CheckedInput> inputs_;
  std::vector<CheckedTrace> traces_;
  std::vector<RecordedInput> recorded_;
  int last_failure_ = kDone;
};

int run(const OptionParser& parser) {
  const Result<TableChoice> table = TableChoice::of(parser, false);
  if (!table.ok()) return parser.wrong(table.status().message());
  return CheckRun(parser, *table).run();
}

}  // namespace

Command check_command() {
  Command command = table_command(*table_named("check"));
  command.options = {
      {"Rows",
       {sort_option(table_named("check")->sort_keys), row_limit_option(), RankChoice::option()}},
      {"Layout", {format_option()}}};
  command.run = run;
  return command;
}

}  // namespace tbtrace::tools
