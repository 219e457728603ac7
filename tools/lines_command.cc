#include <optional>
#include <string>
#include <utility>

#include <tbtrace/lines.h>
#include <tbtrace/recorded_options.h>

#include "analysis_command.h"
#include "command.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "What each line of source cost: time on CPU and GPU, memory, multiply-adds. Backward passes "
    "count\n"
    "for the lines of their forward operators. Without lines in the trace, functions; the column\n"
    "`level` says which. Rows without what they called (self), and the row [unattributed], add up "
    "to\n"
    "the total.\n";

std::string why_nothing(const Trace& trace, const LinesOptions& options) {
  if (!options.libraries && recorded_option(trace, RecordedOption::with_stack).has_data) {
    return "all its files are those of libraries. Leave --own-code out";
  }
  return missing_data_text(trace, RecordedOption::with_stack);
}

int run(const OptionParser& parser) {
  LinesOptions options;
  const Result<std::optional<StepRange>> steps = chosen_steps(parser);
  if (!steps.ok()) return parser.wrong(steps.status().message());
  options.steps = *steps;
  options.libraries = !parser.flag("own-code");
  return run_analysis(
      {.name = "lines",
       .arguments = kLineArguments,
       .nothing = options.libraries ? "the trace has no lines of source"
                                    : "the trace has no lines of the program's own",
       .analyse = [&](const Trace& trace) { return line_report(trace, options); },
       .why_nothing = [&](const Trace& trace) { return why_nothing(trace, options); },
       .remedy = "record with with_stack=True",
       .of_partial = [&](const Partial& partial) { return line_report(partial, options); },
       .sums = &PartialParts::lines,
       .steps = *steps},
      parser);
}

}  // namespace

Command lines_command() {
  return {
      .name = "lines",
      .summary = "what each line or function of the source cost",
      .usage = "[OPTIONS] INPUT...",
      .about = kAbout,
      .options = analysis_options({{.name = "own-code",
                                    .help = "no rows for torch, Python and installed packages; "
                                            "what they did counts for the lines that called them"},
                                   sum_option(),
                                   steps_option()},
                                  {"device_time_total_ns", "self_device_time_ns",
                                   "cpu_time_total_ns", "self_cpu_time_ns", "cpu_memory_bytes"}),
      .examples = {{"tbtrace lines trace.json.gz", "the lines that used the GPU most themselves"},
                   {"tbtrace lines trace.json.gz --sort-by cpu_time_total_ns",
                    "with what they called"},
                   {"tbtrace lines trace.json.gz --own-code", "which of your lines"},
                   {"tbtrace lines trace.json.gz --sort-by device_memory_bytes",
                    "the lines that allocated most memory and kept it"},
                   {"tbtrace lines ranks/ --own-code --sum-inputs", "those of all ranks together"},
                   {"tbtrace lines trace.json.gz --format csv -o lines.csv",
                    "for a spreadsheet, with whole paths"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
