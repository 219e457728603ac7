#include <string>
#include <utility>
#include <vector>

#include <tbtrace/trace_summary.h>
#include <tbtrace/writers.h>

#include "command.h"
#include "console.h"
#include "each_input.h"
#include "inputs.h"
#include "options.h"
#include "out_of_memory.h"
#include "rank_choice.h"
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
    "and the page of the first.\n";

class SummaryRun {
 public:
  SummaryRun(const OptionParser& parser, TableFormat format, RankChoice rank)
      : standard_(parser.standard()),
        format_(parser.flag("json") ? TableFormat::json : format),
        rank_(rank),
        console_(standard_.console) {
    reading_ = standard_.reading;
    reading_.arguments = kSummaryArguments;
  }

  int run() {
    const Subjects subjects = subjects_of("summary", standard_);
    if (const Status place = check_output(subjects.output, standard_.overwrite); !place.ok()) {
      return finish(place, subjects, console_);
    }
    const InputPaths inputs = find_inputs(standard_, console_);
    last_failure_ = inputs.last_failure;
    for (const std::string& path : inputs.paths) add(path);
    if (summaries_.empty()) {
      return last_failure_ != kDone ? last_failure_ : rank_.say_none("summary", console_);
    }
    const Status written =
        within_memory([&] { return write_text(text(), subjects.output, standard_.overwrite); });
    const int code = finish(written, subjects, console_);
    return code == kDone && last_failure_ != kDone ? kSomeInputsFailed : code;
  }

 private:
  std::string text() const {
    switch (format_) {
      case TableFormat::json:
        return summary_json(summaries_);
      case TableFormat::csv:
        return table_csv(summary_table(summaries_));
      case TableFormat::markdown:
        return table_markdown(summary_table(summaries_));
      case TableFormat::text:
        break;
    }
    return summary_text(summaries_, {.width = terminal_width(standard_),
                                     .how_to_show_all_columns = "--format csv has all"});
  }

  /// Keeps a summary of the trace, which is small.
  void add(const std::string& path) {
    const Result<Trace> trace = read_input(path, reading_, console_);
    if (!trace.ok()) {
      last_failure_ = exit_code(trace.status());
      return;
    }
    if (!rank_.takes(*trace)) return;
    const Status made = within_memory([&] {
      summaries_.push_back(trace_summary(*trace, path, {.threads = reading_.threads}));
      return Status();
    });
    const int code = finish(made, {"summary", subject_of(path), output_of(standard_)}, console_);
    if (code != kDone) last_failure_ = code;
  }

  const StandardOptions& standard_;
  TableFormat format_;
  RankChoice rank_;
  Console console_;
  ReadOptions reading_;
  std::vector<TraceSummary> summaries_;
  int last_failure_ = kDone;
};

int run(const OptionParser& parser) {
  const Result<RankChoice> rank = RankChoice::of(parser);
  if (!rank.ok()) return parser.wrong(rank.status().message());
  const Result<OutputFormat> output = output_format(parser, parser.flag("json"));
  if (!output.ok()) return parser.wrong(output.status().message());
  return SummaryRun(parser, output->format, *rank).run();
}

}  // namespace

Command summary_command() {
  return {
      .name = "summary",
      .summary = "the first page: what the time went to, and what to do about it",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = {{"Inputs", {RankChoice::option()}},
                  {"Layout",
                   {format_option(), {.name = "json", .help = "the same as --format json"}}}},
      .examples = {{"tbtrace summary trace.json.gz", "where to begin with a slow program"},
                   {"tbtrace summary traces/", "all ranks of a job, the first in detail"},
                   {"tbtrace summary trace.json.gz --json -o summary.json", "for scripts"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
