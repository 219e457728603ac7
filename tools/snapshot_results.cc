#include "snapshot_results.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/memory_snapshot.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "console.h"
#include "inputs.h"
#include "rank_choice.h"
#include "snapshot_inputs.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

const TableDescription& diff_table() { return *table_of_schema("tbtrace.memory_snapshot_diff/1"); }

}  // namespace

int summarize_snapshots(const OptionParser& parser) {
  if (parser.given("format") && parser.text("format") != "text") {
    return parser.wrong(
        "the summary of a memory snapshot is text; tbtrace memory has its tables in all formats");
  }
  const std::string wrong = wrong_for_snapshots(parser, {"steps", "name", "iteration"});
  if (!wrong.empty()) return parser.wrong(wrong);
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  const StandardOptions& standard = parser.standard();
  Console console(standard.console);
  const Subjects subjects = subjects_of("summary", standard);
  if (const Status place = check_output(subjects.output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  std::string text;
  const int read = each_snapshot(
      "summary", standard, *rank, console,
      [&](const MemorySnapshot& snapshot, const std::string& path) {
        const auto add = [&] {
          text += (text.empty() ? "" : "\n") + printable(path) + "\n";
          for (const std::string& sentence : memory_snapshot_sentences(snapshot)) {
            text += wrapped_text("  " + printable(sentence), terminal_width(standard)) + "\n";
          }
          return Status();
        };
        return finish_work(add, subjects_of_input(path, standard), console);
      });
  if (text.empty()) return read;
  const int written =
      finish(write_text(text, subjects.output, standard.overwrite), subjects, console);
  return written == kDone ? read : written;
}

std::vector<Option> snapshot_diff_options() {
  std::vector<Option> options;
  for (const OptionDescription& option : diff_table().options) {
    options.push_back(command_line_option(diff_table(), option));
  }
  return options;
}

int diff_snapshots(const OptionParser& parser) {
  const std::string wrong = wrong_for_snapshots(
      parser, {"steps", "rank", "iteration", "name", "base", "new", "min-effect", "run-noise",
               "fail-if", "group-by", "weight", "title", "limit"});
  if (!wrong.empty()) return parser.wrong(wrong);
  const StandardOptions& standard = parser.standard();
  if (standard.inputs.size() != 2) return parser.wrong("name two memory snapshots");
  const Result<OptionValues> given = given_options(diff_table(), parser);
  if (!given.ok()) return parser.wrong(given.status().message());
  const Result<OutputFormat> format = output_format(parser, false);
  if (!format.ok()) return parser.wrong(format.status().message());
  const std::optional<std::int64_t> limit = whole_number(parser.text("row-limit"));
  if (!limit || *limit < -1) return parser.wrong("--row-limit takes a number, or -1 for all");
  ReportOptions options = {.format = format->format, .row_limit = *limit};
  if (options.format != TableFormat::text && !parser.given("row-limit")) options.row_limit = -1;
  options.wide = parser.flag("wide");
  options.width = terminal_width(standard);
  options.how_to_show_all_columns = "--wide shows all";
  Console console(standard.console);
  const Subjects subjects = subjects_of("diff", standard);
  std::vector<MemorySnapshot> sides;
  const int read = each_snapshot("diff", standard, RankChoice(), console,
                                 [&](const MemorySnapshot& snapshot, const std::string&) {
                                   sides.push_back(snapshot);
                                   return kDone;
                                 });
  if (read != kDone) return read == kSomeInputsFailed ? kUnreadableInput : read;
  if (sides.size() != 2) return parser.wrong("name two memory snapshots");
  const auto write = [&] {
    const Result<AnalysisReport> report = memory_snapshot_difference(sides[0], sides[1], *given);
    if (!report.ok()) return report.status();
    const Result<std::string> text = report_text(*report, options);
    return text.ok() ? write_text(*text, subjects.output, standard.overwrite) : text.status();
  };
  return finish_work(write, subjects, console);
}

}  // namespace tbtrace::tools
