#include "analysis_command.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/compat.h>
#include <tbtrace/trace_checks.h>
#include <tbtrace/writers.h>

#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "out_of_memory.h"
#include "partial_inputs.h"
#include "rank_choice.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr std::int64_t kScreen = 20;  // rows of a text

class AnalysisRun {
 public:
  AnalysisRun(const AnalysisVerb& verb, const OptionParser& parser, const TableChoice& options)
      : verb_(verb),
        standard_(parser.standard()),
        options_(options),
        sums_(verb.sums != nullptr && parser.flag("sum-inputs")),
        console_(standard_.console) {
    reading_ = standard_.reading;
    reading_.arguments = verb.arguments;
  }

  int run(bool each) {
    const Status known = check_report_options(verb_.analyse, options_.report, verb_.steps);
    if (!known.ok()) return finish(known, subjects_of(verb_.name, standard_), console_);
    if (!each) {
      const Status place = check_output(output_of(standard_), standard_.overwrite);
      if (!place.ok()) return finish(place, subjects_of(verb_.name, standard_), console_);
    }
    const InputPaths inputs = find_inputs(standard_, console_);
    const std::vector<std::string>& paths = inputs.paths;
    failed_ = inputs.failed;
    last_failure_ = inputs.last_failure;
    if (each) {
      const int code = run_each(
          verb_.name, options_.output, paths, standard_, reading_, console_,
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
      Result<AnalysisReport> report = verb_.analyse(*trace);
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

  Result<AnalysisReport> report_of(const Partial& partial) const {
    if (verb_.of_partial) return verb_.of_partial(partial);
    return Status(StatusCode::invalid_argument,
                  "a partial does not have this table; use the trace");
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
      made.parts = {false, false, false, false, false, false};
      made.parts.*verb_.sums = true;
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
    if (!summed.ok()) return finish(summed, subjects_of(verb_.name, standard_), console_);
    const int written = write_sum();
    return written == kDone && failure != kDone ? kSomeInputsFailed : written;
  }

  int none_chosen() {
    if (!has_rank_among_others_) return options_.rank.say_none(verb_.name, console_);
    console_.error(verb_.name,
                   "the partial has the rank together with others; use the traces, or a partial of "
                   "this rank alone");
    return kWrongUsage;
  }

  void say_if_empty(const AnalysisReport& report, const std::string& subject) {
    if (!report.table.rows.empty()) return;
    const std::string& more = why_ ? *why_ : verb_.remedy;
    console_.warning(subject, more.empty() ? verb_.nothing : verb_.nothing + "; " + more);
  }

  /// Keeps why a trace has no rows, for say_if_empty().
  void look_into(const Trace& trace, const Result<AnalysisReport>& report) {
    const bool is_empty = report.ok() && report->table.rows.empty();
    if (is_empty && !why_ && verb_.why_nothing) why_ = verb_.why_nothing(trace);
  }

  int write_sum() {
    const Subjects subjects = subjects_of(verb_.name, standard_);
    const Status written = within_memory([&] {
      const AnalysisReport sum = join_inputs(std::move(reports_), has_several_);
      say_if_empty(sum, subjects.input);
      const Result<std::string> text = report_text(sum, options_.report);
      return text.ok() ? write_text(*text, subjects.output, standard_.overwrite) : text.status();
    });
    return finish(written, subjects, console_);
  }

  Status write_one(const Trace& trace, const std::string& input, const std::string& output) {
    const Result<AnalysisReport> report = verb_.analyse(trace);
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

  const AnalysisVerb& verb_;
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

std::string missing_device_text(const Trace& trace) {
  const bool has_some = std::ranges::any_of(
      trace.by_start(), [&](EventId event) { return is_device_work(trace.kind(event)); });
  for (const CheckFinding& check : trace_checks(trace)) {
    const bool lost_all = check.severity == CheckSeverity::error;
    if (check.id != "launches_without_kernels" || !lost_all) continue;
    return std::to_string(check.count) +
           (check.count == 1 ? " launch was recorded, but its kernel is missing: "
                             : " launches were recorded, but their kernels are missing: ") +
           check.remedy;
  }
  return has_some ? "" : kRecordDevices;
}

Result<TableChoice> TableChoice::of(const OptionParser& parser, bool has_folder) {
  TableChoice choice;
  const Result<OutputFormat> output = output_format(parser, has_folder);
  if (!output.ok()) return output.status();
  choice.output = *output;
  choice.report.format = choice.output.format;
  choice.report.sort_by = parser.text("sort-by");
  choice.report.row_limit = choice.output.format == TableFormat::text ? kScreen : -1;
  if (parser.given("row-limit")) {
    const auto limit = whole_number(parser.text("row-limit"));
    if (!limit || *limit < -1) {
      return Status(StatusCode::invalid_argument, row_limit_range());
    }
    choice.report.row_limit = *limit;
  }
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return rank.status();
  choice.rank = *rank;
  return choice;
}

Option sort_option(std::vector<std::string_view> sort_keys) {
  return {
      .name = "sort-by",
      .value = "KEY",
      .help =
          "a column as JSON names it: numbers largest first, texts in the order of the alphabet",
      .choices = std::move(sort_keys),
      .takes_others = true};
}

Option sum_option() {
  return {.name = "sum-inputs", .help = "one table of all inputs, equal rows added up"};
}

Status no_events_in_partial() {
  return {StatusCode::invalid_argument, "a partial has sums, not single events; use the trace"};
}

std::string row_limit_range() {
  return "--row-limit takes a number from 0 to " +
         std::to_string(std::numeric_limits<std::int64_t>::max()) + ", or -1 for all rows";
}

Option row_limit_option() {
  return {.name = "row-limit",
          .value = "N",
          .help = "rows to show, -1 for all (default: 20 as text, all otherwise)"};
}

Option format_option() {
  return {.name = "format",
          .value = "F",
          .help = "text, csv, json or md (default: by the output's name, else text)",
          .choices = {"text", "csv", "json", "md"}};
}

std::vector<OptionGroup> analysis_options(std::vector<Option> rows,
                                          std::vector<std::string_view> sort_keys) {
  rows.push_back(sort_option(std::move(sort_keys)));
  rows.push_back(row_limit_option());
  rows.push_back({.name = "each", .help = "a table per input instead of one of all"});
  rows.push_back(RankChoice::option());
  return {{"Rows", std::move(rows)}, {"Layout", {format_option(), wide_option()}}};
}

Option steps_option() {
  return {.name = "steps", .value = "RANGE", .help = "only steps A-B, or the step A"};
}

Option compat_option(std::string_view table, std::string_view value, std::string_view help) {
  Option option = {.name = "compat", .value = value, .help = help};
  for (const Figures figures : figures_of(table).subspan(1)) {
    option.choices.push_back(figures_name(figures));
  }
  return option;
}

Figures chosen_figures(const OptionParser& parser, std::string_view table) {
  const std::span<const Figures> figures = figures_of(table);
  const auto found = std::ranges::find(figures, parser.text("compat"), figures_name);
  return found == figures.end() ? figures.front() : *found;
}

std::function<Result<AnalysisReport>(const Partial& partial)> in_figures(
    Figures figures, std::function<Result<AnalysisReport>(const Partial& partial)> make) {
  return [figures, make = std::move(make)](const Partial& partial) -> Result<AnalysisReport> {
    if (Status has = check_partial_figures(figures); !has.ok()) return has;
    return make(partial);
  };
}

Result<std::optional<StepRange>> chosen_steps(const OptionParser& parser) {
  if (!parser.given("steps")) return std::optional<StepRange>();
  const std::string& text = parser.text("steps");
  const std::size_t dash = text.find('-');
  const auto first = whole_number(std::string_view(text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first) {
    return Status(StatusCode::invalid_argument,
                  "--steps takes a number or two of them, such as 3 or 3-5");
  }
  return std::optional(StepRange{*first, *last});
}

int run_analysis(const AnalysisVerb& verb, const OptionParser& parser) {
  const bool each = parser.flag("each");
  Result<TableChoice> choice = TableChoice::of(parser, each);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  choice->report.wide = parser.flag("wide");
  choice->report.width = terminal_width(parser.standard());
  choice->report.how_to_show_all_columns = "--wide shows all";
  if (verb.sums != nullptr && parser.flag("sum-inputs")) {
    for (const char* const option : {"each", "rank", "steps"}) {
      if (parser.given(option))
        return parser.wrong("--sum-inputs and --" + std::string(option) + " exclude each other");
    }
  }
  return AnalysisRun(verb, parser, *choice).run(each);
}

}  // namespace tbtrace::tools
