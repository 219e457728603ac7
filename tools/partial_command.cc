#include <string>

#include <unistd.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/partial.h>

#include "command.h"
#include "inputs.h"
#include "options.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "The tables of a trace in a small file that adds up with those of other traces: operators,\n"
    "kernels, modules, lines and stacks over all ranks; steps, GPU use and memory of each;\n"
    "collectives, and who holds up the job. The verbs for tables read it like a trace;\n"
    "merge-partials adds files up, in any order and any tree. Several inputs give one partial of\n"
    "all. Figures are exact.\n";

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  PartialOptions options;
  const auto frames = whole_number(parser.text("group-by-stack-n"));
  if (!frames || *frames < 0 || *frames > 1000000) {
    return parser.wrong("--group-by-stack-n takes a number");
  }
  options.group_by_stack_n = static_cast<int>(*frames);
  const std::string& source = parser.text("stack-source");
  if (source == "call_stack") options.stack_source = StackSource::call_stack;
  if (source == "frames") options.stack_source = StackSource::frames;
  if (!capabilities().event_files) {
    return parser.wrong(
        "this build can neither write nor read partials: it was built without "
        "protobuf");
  }
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a partial does not go to a terminal; name a file with -o");
  }
  Console console(standard.console);
  return run_sum("partial", standard, console, options, {}, [&](const Partial& sum) {
    return finish_work([&] { return write_partial(sum, output, standard.overwrite); },
                       subjects_of("partial", standard), console);
  });
}

}  // namespace

Command partial_command() {
  return {
      .name = "partial",
      .summary = "the tables of a trace in a small file that adds up with others",
      .usage = "[OPTIONS] INPUT... -o OUT.tbp",
      .about = kAbout,
      .options = {{"Operators",
                   {{.name = "group-by-stack-n",
                     .value = "N",
                     .help = "frames of the stacks that operators can be grouped by afterwards",
                     .otherwise = "5"},
                    {.name = "stack-source",
                     .value = "WHAT",
                     .help = "where these stacks come from: call_stack, the events' argument; "
                             "frames, the Python functions around each event; auto, frames where "
                             "there is no argument",
                     .otherwise = "auto",
                     .choices = {"auto", "call_stack", "frames"}}}}},
      .examples = {{"tbtrace partial trace.json.gz -o trace.tbp", "the tables of one trace"},
                   {"tbtrace partial ranks/ -o job.tbp", "those of all ranks of a job"},
                   {"tbtrace kernels job.tbp", "the kernels of all ranks together"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
