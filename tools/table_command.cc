#include "table_command.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/job_paths.h>
#include <tbtrace/partial.h>
#include <tbtrace/replay_labels.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "rank_choice.h"
#include "row_choice.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

/// Tables that show the labels of CUDA graphs.
constexpr std::array<std::string_view, 2> kLabelled = {"kernels", "modules"};

bool shows_labels(const TableDescription& table) {
  return std::ranges::find(kLabelled, table.name) != kLabelled.end();
}

bool has_sums(const TableDescription& table) { return table.in_partials == InPartials::summed; }

class TableRun {
 public:
  /// `given`: options of the table.
  TableRun(const TableDescription& table, const OptionValues& given, const OptionParser& parser,
           const TableChoice& options)
      : table_(table),
        verb_(parser.command().name),
        given_(given),
        standard_(parser.standard()),
        options_(options),
        console_(standard_.console) {}

  /// One table of the rows of all inputs.
  int run_joined() {
    InputLoop loop(verb_, standard_, reading(), console_,
                   {.ranks_only = table_.of_ranks || joins_ranks(table_), .rank = options_.rank});
    const auto take = [&](const auto& source, std::optional<std::int64_t> rank,
                          const std::string& path) {
      // A trace may lack what was asked for, such as steps; the message has to say which trace.
      return finish_work(
          [&] {
            Result<AnalysisReport> report = report_of(source);
            if (!report.ok()) return report.status();
            reports_.push_back({rank, path, *std::move(report)});
            return Status();
          },
          subjects_of_input(path, standard_), console_);
    };
    const auto finish_all = [&] {
      JoinedReport joined;
      const auto join = [&] {
        Result<JoinedReport> made = report_of_ranks();
        if (!made.ok()) return made.status();
        joined = *std::move(made);
        return Status();
      };
      if (const int code = finish_work(join, subjects_of(verb_, standard_), console_);
          code != kDone) {
        return code;
      }
      if (joined.report) return write_joined(*std::move(joined.report));
      int last = kDone;
      for (const auto& [path, trace] : ranks_) {
        const int code = take(trace, trace.identity().rank, path);
        if (code != kDone) last = code;
      }
      if (last != kDone && reports_.empty()) return last;
      if (last != kDone) last = kSomeInputsFailed;
      if (!joined.problem.empty() && !reports_.empty()) {
        reports_.back().report.notes.push_back(note_of_problem(joined));
      }
      const int code = write_all(loop.size() > 1);
      return code == kDone ? last : code;
    };
    return loop.run(
        [&](Trace trace, const std::string& path) {
          if (may_be_of_job(trace, path)) {
            ranks_.emplace_back(path, std::move(trace));
            return static_cast<int>(kDone);
          }
          const int code = add_labels(trace, path);
          return code == kDone ? take(trace, trace.identity().rank, path) : code;
        },
        [&](const Partial& partial, const std::string& path) {
          return take(partial, partial.sources().front().rank, path);
        },
        finish_all);
  }

  /// A table per input.
  int run_each() {
    EachOutput each(table_.name, options_.output, standard_, console_);
    if (const int code = each.prepare(); code != kDone) return code;
    InputLoop loop(verb_, standard_, reading(), console_,
                   {.writes_files_each = true, .rank = options_.rank});
    const auto take = [&](const auto& source, const std::string& path) {
      return each.write(path, [&](const std::string& output) {
        why_.reset();
        Result<AnalysisReport> report = report_of(source);
        return report.ok() ? write(*std::move(report), subject_of(path), output) : report.status();
      });
    };
    return loop.run(
        [&](Trace trace, const std::string& path) {
          const int code = add_labels(trace, path);
          return code == kDone ? take(trace, path) : code;
        },
        take);
  }

  /// One table in which the rows of all inputs are added up.
  int run_summed() {
    PartialOptions made;
    if (!any_partial(standard_.inputs)) made.parts = parts_for(table_);
    return run_sum(verb_, standard_, console_, made, {}, [&](const Partial& sum) {
      const Subjects subjects = subjects_of(verb_, standard_);
      const auto work = [&] {
        Result<AnalysisReport> report = report_of(sum);
        return report.ok() ? write(*std::move(report), subjects.input, subjects.output)
                           : report.status();
      };
      return finish_work(work, subjects, console_);
    });
  }

  int run(bool each, bool sums) {
    const Status known = check_report_options(
        [this](const Trace& trace) { return make_table(table_, trace, given_); }, options_.report,
        given_.steps());
    if (!known.ok()) return finish(known, subjects_of(verb_, standard_), console_);
    if (const int code = read_labels(); code != kDone) return code;
    return each ? run_each() : sums ? run_summed() : run_joined();
  }

 private:
  /// Ranks that wait for each other are replayed together, for which all have to be in memory.
  bool may_be_of_job(const Trace& trace, const std::string& path) const {
    return joins_ranks(table_) && (trace.identity().rank || path.find("rank") != std::string::npos);
  }

  Result<JoinedReport> report_of_ranks() const {
    if (ranks_.size() < 2 || !reports_.empty()) return JoinedReport();
    std::vector<RankTrace> traces;
    for (const auto& [path, trace] : ranks_) traces.push_back({&trace, path});
    return job_path_report(table_, traces, given_);
  }

  int write_joined(AnalysisReport report) {
    const Subjects subjects = subjects_of(verb_, standard_);
    const auto work = [&] { return write(std::move(report), subjects.input, subjects.output); };
    return finish_work(work, subjects, console_);
  }

  ReadOptions reading() const {
    ReadOptions reading = standard_.reading;
    reading.arguments = arguments_for(table_, given_);
    if (joins_ranks(table_)) reading.arguments = reading.arguments | kRankArguments;
    if (labels_) reading.arguments = reading.arguments | replay_label_arguments();
    return reading;
  }

  /// The trace of `--labels`. Returns an exit code.
  int read_labels() {
    if (options_.labels.empty()) return kDone;
    ReadOptions reading = standard_.reading;
    reading.arguments = replay_label_arguments();
    Result<Trace> source = read_trace(options_.labels, reading);
    if (!source.ok()) {
      return finish(source.status(), subjects_of_input(options_.labels, standard_), console_);
    }
    labels_.emplace(*std::move(source));
    return kDone;
  }

  /// Labels the trace's replays, if asked for. Returns an exit code.
  int add_labels(Trace& trace, const std::string& path) {
    if (!labels_) return kDone;
    Result<LabelledReplays> labelled = label_replays(std::move(trace), *labels_);
    if (!labelled.ok()) {
      return finish(labelled.status(), subjects_of_input(path, standard_), console_);
    }
    label_note_ = text_of(*labelled, subject_of(options_.labels));
    trace = std::move(labelled->trace);
    return kDone;
  }

  /// Keeps why the first trace without rows has none.
  Result<AnalysisReport> report_of(const Trace& trace) {
    Result<AnalysisReport> report = make_table(table_, trace, given_);
    if (report.ok() && report->table.rows.empty() && !why_) why_ = why_none(&trace);
    if (report.ok() && !label_note_.empty()) report->notes.push_back(label_note_);
    return report;
  }
  Result<AnalysisReport> report_of(const Partial& partial) {
    return make_table(table_, partial, given_);
  }

  std::string why_none(const Trace* trace) const {
    return why_no_rows(table_, *complete_options(table_, given_), trace);
  }

  int write_all(bool with_paths) {
    const Subjects subjects = subjects_of(verb_, standard_);
    const auto work = [&] {
      return write(join_inputs(std::move(reports_), with_paths), subjects.input, subjects.output);
    };
    return finish_work(work, subjects, console_);
  }

  Status write(AnalysisReport report, const std::string& subject, const std::string& output) {
    if (report.table.rows.empty()) console_.warning(subject, why_ ? *why_ : why_none(nullptr));
    if (options_.accepts_name) {
      say_row_counts(keep_named_rows(report, options_.accepts_name), subject, console_);
    }
    const Result<std::string> text = report_text(report, options_.report);
    return text.ok() ? write_text(*text, output, standard_.overwrite) : text.status();
  }

  const TableDescription& table_;
  const std::string verb_;
  const OptionValues& given_;
  const StandardOptions& standard_;
  const TableChoice& options_;
  Console console_;
  std::vector<ReportOfInput> reports_;
  std::vector<std::pair<std::string, Trace>> ranks_;  // that may be replayed together, by path
  std::optional<std::string> why_;
  std::optional<Trace> labels_;  // what `--labels` names
  std::string label_note_;       // of the trace that is shown
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
  if (shows_labels(table)) {
    rows.push_back({.name = "labels",
                    .value = "TRACE",
                    .help = "a trace of the same model without CUDA graphs, from which replayed "
                            "kernels get their modules as labels"});
  }
  if (has_names(table)) rows.push_back(name_option());
  rows.push_back(sort_option(table.sort_keys));
  rows.push_back(row_limit_option());
  rows.push_back({.name = "each", .help = "a table per input instead of one of all"});
  rows.push_back(RankChoice::option());
  rows.push_back(RankChoice::iteration_option());
  std::vector<Example> examples;
  for (const TableExample& example : table.examples) {
    examples.push_back({example.command, example.meaning});
  }
  return {.name = table.command(),
          .summary = table.summary,
          .usage = "[OPTIONS] INPUT...",
          .about = table.about,
          .options = {{"Rows", std::move(rows)}, {"Layout", {format_option(), wide_option()}}},
          .examples = std::move(examples),
          .run = run_table};
}

int run_table(const OptionParser& parser) {
  const TableDescription& table =
      **std::ranges::find(tables(), parser.command().name, &TableDescription::command);
  const Result<OptionValues> given = given_options(table, parser);
  if (!given.ok()) return parser.wrong(given.status().message());
  const bool each = parser.flag("each");
  Result<TableChoice> choice = TableChoice::of(parser, each);
  if (!choice.ok()) return parser.wrong(choice.status().message());
  if (shows_labels(table)) choice->labels = parser.text("labels");
  choice->report.wide = parser.flag("wide");
  choice->report.width = terminal_width(parser.standard());
  choice->report.how_to_show_all_columns = "--wide shows all";
  const bool sums = has_sums(table) && parser.flag("sum-inputs");
  if (sums) {
    for (const char* const option :
         {"each", "rank", "iteration", "steps", "compat", "per-event", "labels"}) {
      if (parser.has(option) && parser.given(option)) {
        return parser.wrong("--sum-inputs and --" + std::string(option) + " exclude each other");
      }
    }
  }
  return TableRun(table, *given, parser, *choice).run(each, sums);
}

}  // namespace tbtrace::tools
