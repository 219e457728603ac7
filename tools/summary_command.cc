#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/job_analysis.h>
#include <tbtrace/partial.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>
#include <tbtrace/summary.h>
#include <tbtrace/trace_set.h>

#include "colors.h"
#include "command.h"
#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "options.h"
#include "rank_choice.h"
#include "rank_inputs.h"
#include "snapshot_inputs.h"
#include "snapshot_results.h"
#include "table_options.h"
#include "terminal.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "The first page about a trace: what ran, what the steps' time went to, the largest operators "
    "and\n"
    "kernels, how busy the GPU was, what held the memory, and findings: what makes the program "
    "slow,\n"
    "with the evidence and what to do. Several traces, such as the ranks of a job, have a line "
    "each,\n"
    "and the page of the rank that holds up the job; of the first if no rank is known to. "
    "Partials\n"
    "have the lines, and what is said of the job as a whole. Of a memory snapshot: what held the "
    "memory,\n"
    "and why an allocation failed.\n";

std::string text_of(const std::vector<TraceSummary>& summaries,
                    const std::optional<StragglerResult>& stragglers, TableFormat format,
                    const StandardOptions& standard) {
  switch (format) {
    case TableFormat::json:
      return summary_json(summaries, stragglers);
    case TableFormat::csv:
      return table_csv(summary_table(summaries, stragglers));
    case TableFormat::markdown:
      return table_markdown(summary_table(summaries, stragglers));
    case TableFormat::text:
      break;
  }
  return summary_text(summaries, {.width = terminal_width(standard),
                                  .how_to_show_all_columns = "--format csv has all",
                                  .stragglers = stragglers});
}

int run(const OptionParser& parser) {
  if (any_snapshot(parser.standard().inputs)) return summarize_snapshots(parser);
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  const Result<OutputFormat> output = output_format(parser, false);
  if (!output.ok()) return parser.wrong(output.status().message());
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  const StandardOptions& standard = parser.standard();
  ReadOptions reading = standard.reading;
  // Several traces are ranks of a job, unless they turn out to be of one rank.
  const bool may_be_job = find_traces(standard.inputs).paths.size() > 1;
  reading.arguments = may_be_job ? kSummaryArguments | kRankArguments : kSummaryArguments;
  Console console(standard.console);
  std::vector<TraceSummary> summaries;  // which are small
  RankInputs ranks(console);
  InputLoop loop("summary", standard, reading, console, {.ranks_only = true, .rank = *rank});
  return loop.run(
      [&](const Trace& trace, const std::string& path) {
        const TraceSummaryOptions options = {.threads = reading.threads};
        const auto add = [&] {
          if (!*steps) {
            summaries.push_back(trace_summary(trace, path, options));
            if (may_be_job) ranks.add(trace, path);
            return Status();
          }
          Result<TraceSummary> summary = summary_of_steps(trace, **steps, path, options);
          if (!summary.ok()) return summary.status();
          summaries.push_back(*std::move(summary));
          if (may_be_job) ranks.add(*trace_of_steps(trace, **steps), path);
          return Status();
        };
        return finish_work(add, subjects_of_input(path, standard), console);
      },
      [&](Partial partial, const std::string& path) {
        if (*steps) {
          return parser.wrong(
              "partials have the sums of whole recordings; --steps goes with traces");
        }
        const auto add = [&] {
          std::vector<TraceSummary> of_sources = partial_summaries(partial);
          std::ranges::move(of_sources, std::back_inserter(summaries));
          return ranks.add(std::move(partial), path);
        };
        return finish_work(add, subjects_of_input(path, standard), console);
      },
      [&] {
        const Subjects subjects = subjects_of("summary", standard);
        const auto write = [&] {
          ranks.say_remarks("summary");
          const std::optional<StragglerResult> stragglers = stragglers_of(ranks.take_records());
          if (stragglers) add_straggler_findings(summaries, *stragglers);
          const std::string text = text_of(summaries, stragglers, output->format, standard);
          const bool is_text = output->format == TableFormat::text;
          return write_text(is_text ? with_colors(text, standard) : text, subjects.output,
                            standard.overwrite);
        };
        return finish_work(write, subjects, console);
      });
}

}  // namespace

Command summary_command() {
  return {
      .name = "summary",
      .summary = "the first page: what the time went to, and what to do about it",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = {{"Inputs",
                   {RankChoice::option(), RankChoice::iteration_option(), steps_range_option()}},
                  {"Layout", {format_option()}}},
      .examples = {{"tbtrace summary trace.json.gz", "where to begin with a slow program"},
                   {"tbtrace summary traces/", "all ranks of a job, the slow one in detail"},
                   {"tbtrace summary job.tbp", "a partial of all ranks: who holds up the job"},
                   {"tbtrace summary trace.json.gz --steps 3-5", "three steps"},
                   {"tbtrace summary trace.json.gz --format json", "for scripts"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
