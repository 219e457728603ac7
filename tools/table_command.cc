#include "table_command.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/partial.h>
#include <tbtrace/tables.h>
#include <tbtrace/writers.h>

#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "out_of_memory.h"
#include "partial_inputs.h"
#include "rank_choice.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

bool has_sums(const TableDescription& table) { return table.in_partials == InPartials::summed; }

class TableRun {
 public:
  /// `given`: options of the table.
  TableRun(const TableDescription& table, const OptionValues& given, const OptionParser& parser,
           const TableChoice& options)
      : table_(table),
        name_(table.name),
        given_(given),
        standard_(parser.standard()),
        options_(options),
        sums_(has_sums(table) && parser.flag("sum-inputs")),
        console_(standard_.console) {
    reading_ = standard_.reading;
    reading_.arguments = arguments_for(table, given);
  }

  int run(bool each) {
    const Status known = check_report_options(
        [this](const Trace& trace) { return report_of(trace); }, options_.report, given_.steps());
    if (!known.ok()) return finish(known, subjects_of(name_, standard_), console_);
    if (!each) {
      const Status place = check_output(output_of(standard_), standard_.overwrite);
      if (!place.ok()) return finish(place, subjects_of(name_, standard_), console_);
    }
    const InputPaths inputs = find_inputs(standard_, console_);
    const std::vector<std::string>& paths = inputs.paths;
    failed_ = inputs.failed;
    last_failure_ = inputs.last_failure;
    if (each) {
      const int code = run_each(
          name_, options_.output, paths, standard_, reading_, console_,
          [this](const Trace& trace, const std::string& input, const std::string& output) {
            return write_one(trace, input, output);
          },
          [this](const Trace& trace) { return is_chosen(trace); },
          {.choose = [this](const Partial& partial) { return is_chosen(partial); },
           .write =
               [this](const Partial& partial, const std::string& input, const std::string& output) {
                 return write_report(report_of(partial), input, output);
               }});
      if (code == kDone && !any_chosen_ && failed_ == 0) return none_chosen();
      return failed_ > 0 && !paths.empty() ? kSomeInputsFailed : failed_ > 0 ? last_failure_ : code;
    }
    if (sums_) return run_sum(inputs);
    has_several_ = paths.size() > 1;
    for (const std::string& path : paths) {
      const int code = is_partial(path) ? add_partial(path) : add(path);
      if (code == kDone) continue;
      ++failed_;
      last_failure_ = code;
    }
    if (reports_.empty()) return failed_ > 0 ? last_failure_ : none_chosen();
    const int written = write_sum();
    return written == kDone && failed_ > 0 ? kSomeInputsFailed : written;
  }

 private:
  bool is_chosen(const Trace& trace) {
    const bool chosen = options_.rank.takes(trace);
    any_chosen_ = any_chosen_ || chosen;
    return chosen;
  }

  /// Returns an exit code.
  int add(const std::string& path) {
    Result<Trace> trace = read_input(path, reading_, console_);
    if (!trace.ok()) return exit_code(trace.status());
    if (!is_chosen(*trace)) return kDone;
    const Status made = within_memory([&] {
      Result<AnalysisReport> report = report_of(*trace);
      look_into(*trace, report);
      if (!report.ok()) return report.status();
      reports_.push_back({trace->identity().rank, path, *std::move(report)});
      return Status();
    });
    // A trace may lack what was asked for, such as steps; the message has to say which trace.
    return finish(made, {subject_of(path), subject_of(path), output_of(standard_)}, console_);
  }

  /// A partial has several ranks together, so it is taken or not as a whole.
  bool is_chosen(const Partial& partial) {
    const auto takes = [this](const PartialSource& source) {
      return options_.rank.takes(source.rank);
    };
    const bool chosen = std::ranges::all_of(partial.sources(), takes);
    any_chosen_ = any_chosen_ || chosen;
    has_rank_among_others_ =
        has_rank_among_others_ || (!chosen && std::ranges::any_of(partial.sources(), takes));
    return chosen;
  }

  template <typename Source>  // a Trace or a Partial
  Result<AnalysisReport> report_of(const Source& source) const {
    return make_table(table_, source, given_);
  }

  /// Returns an exit code.
  int add_partial(const std::string& path) {
    const Result<Partial> partial = read_partial_input(path, console_);
    if (!partial.ok()) return exit_code(partial.status());
    if (!is_chosen(*partial)) return kDone;
    const Status made = within_memory([&] {
      Result<AnalysisReport> report = report_of(*partial);
      if (!report.ok()) return report.status();
      reports_.push_back({partial->sources().front().rank, path, *std::move(report)});
      return Status();
    });
    return finish(made, {subject_of(path), subject_of(path), output_of(standard_)}, console_);
  }

  /// One table in which the rows of all inputs are added up.
  int run_sum(const InputPaths& inputs) {
    PartialOptions made;
    if (!any_partial(standard_.inputs)) {
      made.parts = parts_for(table_);
    }
    PartialSum sum(made, standard_.reading, console_);
    const int failure = sum.add_all(inputs);
    if (!sum.sum()) return failure;
    const Status summed = within_memory([&] {
      Result<AnalysisReport> report = report_of(*sum.sum());
      if (!report.ok()) return report.status();
      reports_.push_back({{}, {}, *std::move(report)});
      return Status();
    });
    if (!summed.ok()) return finish(summed, subjects_of(name_, standard_), console_);
    const int written = write_sum();
    return written == kDone && failure != kDone ? kSomeInputsFailed : written;
  }

  int none_chosen() {
    if (!has_rank_among_others_) return options_.rank.say_none(name_, console_);
    console_.error(name_,
                   "the partial has the rank together with others; use the traces, or a partial of "
                   "this rank alone");
    return kWrongUsage;
  }

  void say_if_empty(const AnalysisReport& report, const std::string& subject) {
    if (!report.table.rows.empty()) return;
    console_.warning(subject, why_ ? *why_ : why_none(nullptr));
  }

  std::string why_none(const Trace* trace) const {
    return why_no_rows(table_, *complete_options(table_, given_), trace);
  }

  /// Keeps why a trace has no rows, for say_if_empty().
  void look_into(const Trace& trace, const Result<AnalysisReport>& report) {
    const bool is_empty = report.ok() && report->table.rows.empty();
    if (is_empty && !why_) why_ = why_none(&trace);
  }

  int write_sum() {
    const Subjects subjects = subjects_of(name_, standard_);
    const Status written = within_memory([&] {
      const AnalysisReport sum = join_inputs(std::move(reports_), has_several_);
      say_if_empty(sum, subjects.input);
      const Result<std::string> text = report_text(sum, options_.report);
      return text.ok() ? write_text(*text, subjects.output, standard_.overwrite) : text.status();
    });
    return finish(written, subjects, console_);
  }

  Status write_one(const Trace& trace, const std::string& input, const std::string& output) {
    const Result<AnalysisReport> report = report_of(trace);
    why_.reset();
    look_into(trace, report);
    return write_report(report, input, output);
  }

  Status write_report(const Result<AnalysisReport>& report, const std::string& input,
                      const std::string& output) {
    if (!report.ok()) return report.status();
    say_if_empty(*report, subject_of(input));
    const Result<std::string> text = report_text(*report, options_.report);
    return text.ok() ? write_text(*text, output, standard_.overwrite) : text.status();
  }

  const TableDescription& table_;
  const std::string name_;
  const OptionValues& given_;
  const StandardOptions& standard_;
  const TableChoice& options_;
  const bool sums_;
  Console console_;
  ReadOptions reading_;
  std::vector<ReportOfInput> reports_;
  std::optional<std::string> why_;  // why a trace has no rows
  bool has_several_ = false;
  bool any_chosen_ = false;
  bool has_rank_among_others_ = false;
  std::size_t failed_ = 0;
  int last_failure_ = kDone;
};

}  // namespace

Command table_command(const TableDescription& table) {
  std::vector<Option> rows;
  for (const OptionDescription& option : table.options) {
    if (option.type == OptionType::steps && has_sums(table)) {
      rows.push_back(
          {.name = "sum-inputs", .help = "one table of all inputs, equal rows added up"});
    }
    rows.push_back(command_line_option(table, option));
  }
  rows.push_back(sort_option(table.sort_keys));
  rows.push_back(row_limit_option());
  rows.push_back({.name = "each", .help = "a table per input instead of one of all"});
  rows.push_back(RankChoice::option());
  std::vector<Example> examples;
  for (const TableExample& example : table.examples) {
    examples.push_back({example.command, example.meaning});
  }
  return {.name = table.name,
          .summary = table.summary,
          .usage = "[OPTIONS] INPUT...",
          .about = table.about,
          .options = {{"Rows", std::move(rows)}, {"Layout", {format_option(), wide_option()}}},
          .examples = std::move(examples),
          .run = run_table};
}

int run_table(const OptionParser& parser) {
  const TableDescription& table = *table_named(parser.command().name);
  const Result<OptionValues> given = given_options(table, parser);
  if (!given.ok()) return parser.wrong(given.status().message());
  const bool each = parser.flag("each");
  Result<TableChoice> choice = TableChoice::of(parser, each);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  choice->report.wide = parser.flag("wide");
  choice->report.width = terminal_width(parser.standard());
  choice->report.how_to_show_all_columns = "--wide shows all";
  if (has_sums(table) && parser.flag("sum-inputs")) {
    for (const char* const option : {"each", "rank", "steps", "compat", "per-event"}) {
      if (parser.has(option) && parser.given(option)) {
        return parser.wrong("--sum-inputs and --" + std::string(option) + " exclude each other");
      }
    }
  }
  return TableRun(table, *given, parser, *choice).run(each);
}

}  // namespace tbtrace::tools
