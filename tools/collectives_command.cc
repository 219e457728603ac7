#include <optional>
#include <string>
#include <utility>

#include <tbtrace/job_analysis.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>
#include <tbtrace/tables.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "rank_inputs.h"
#include "row_choice.h"
#include "table_command.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

/// For people the ranks follow the collectives, then what is to be said.
Result<std::string> text_of(const JobAnalysis& job, const TableChoice& table, Console& console) {
  const ReportOptions& options = table.report;
  AnalysisReport rows = collectives_report(job);
  if (table.accepts_name) {
    say_row_counts(keep_named_rows(rows, table.accepts_name), "collectives", console);
  }
  if (options.format != TableFormat::text) return report_text(rows, options);
  AnalysisReport ranks = job_ranks_report(job);
  ranks.notes = std::move(rows.notes);
  rows.notes.clear();
  ReportOptions of_ranks = options;
  of_ranks.sort_by.clear();
  const Result<std::string> first = report_text(rows, options);
  const Result<std::string> second = report_text(ranks, of_ranks);
  if (!first.ok() || !second.ok()) return first.ok() ? second : first;
  return rows.table.rows.empty() ? *second : *first + "\n" + *second;
}

int run(const OptionParser& parser) {
  Result<TableChoice> table = TableChoice::of(parser, false);
  if (!table.ok()) return parser.wrong(table.status().message());
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  const StandardOptions& standard = parser.standard();
  table->report.wide = parser.flag("wide");
  table->report.width = terminal_width(standard);
  table->report.how_to_show_all_columns = "--wide shows all";
  Console console(standard.console);
  const Subjects subjects = subjects_of("collectives", standard);
  if (const Result<Table> known = report_rows(collectives_report({}), table->report); !known.ok()) {
    return finish(known.status(), subjects, console);
  }
  ReadOptions reading = standard.reading;
  reading.arguments = table_named("collectives")->all_arguments();
  RankInputs ranks(console);
  InputLoop loop("collectives", standard, reading, console,
                 {.ranks_only = true, .counted = "read", .rank = table->rank});
  return loop.run(
      [&](const Trace& trace, const std::string& path) {
        const auto add = [&] {
          if (!*steps) {
            ranks.add(trace, path);
            return Status();
          }
          const Result<Trace> part = trace_of_steps(trace, **steps);
          if (part.ok()) ranks.add(*part, path);
          return part.status();
        };
        return finish_work(add, subjects_of_input(path, standard), console);
      },
      [&](Partial partial, const std::string& path) {
        if (*steps) {
          return parser.wrong(
              "partials have the sums of whole recordings; --steps goes with traces");
        }
        const auto add = [&] { return ranks.add(std::move(partial), path); };
        return finish_work(add, subjects_of_input(path, standard), console);
      },
      [&] {
        const auto write = [&] {
          ranks.say_remarks("collectives");
          const Result<std::string> text =
              text_of(analyse_job(ranks.take_records()), *table, console);
          if (!text.ok()) return text.status();
          const bool is_text = table->report.format == TableFormat::text;
          return write_text(wrapped_text(*text, is_text ? terminal_width(standard) : 0),
                            subjects.output, standard.overwrite);
        };
        return finish_work(write, subjects, console);
      });
}

}  // namespace

Command collectives_command() {
  Command command = table_command(*table_named("collectives"));
  command.options = {
      {"Rows",
       {steps_range_option(), name_option(), sort_option(table_named("collectives")->sort_keys),
        row_limit_option(), RankChoice::iteration_option()}},
      {"Layout", {format_option(), wide_option()}}};
  command.run = run;
  return command;
}

}  // namespace tbtrace::tools
