#include <string>
#include <vector>

#include <unistd.h>

#include <tbtrace/capabilities.h>
#include <tbtrace/diff.h>
#include <tbtrace/partial.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "run_inputs.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "The tables of a trace in a small file that adds up with those of other traces: operators,\n"
    "kernels, modules, lines and stacks over all ranks; steps, GPU use and memory of each;\n"
    "collectives, and who holds up the job. The verbs for tables read it like a trace; add adds\n"
    "files up, in any order and any tree. Several inputs give one file of all. Figures are exact.\n"
    "With --for diff, a file of at most 100 KB that stands for runs of a program, to compare "
    "later\n"
    "runs with: tbtrace diff base.tbb new.json.gz. Each input is a run: a trace, a folder with\n"
    "those of its ranks, or such a file, whose runs are taken over. Five runs or more show how "
    "much\n"
    "runs vary, so that a single new run can get a verdict. Rows are kept to 99 % of the time.\n";

int save_runs(const StandardOptions& standard, const std::string& output) {
  Console console(standard.console);
  const Subjects subjects = subjects_of("save", standard);
  if (const Status place = check_output(output, standard.overwrite); !place.ok()) {
    return finish(place, subjects, console);
  }
  std::vector<RunFigures> runs;
  for (const std::string& path : standard.inputs) {
    if (const int code = read_runs(path, standard, console, runs); code != kDone) return code;
  }
  return finish_work([&] { return write_baseline(runs, output, standard.overwrite); }, subjects,
                     console);
}

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("such a file does not go to a terminal; name one with -o");
  }
  if (parser.text("for") == "diff") {
    for (const char* const name : {"group-by-stack-n", "stack-source"}) {
      if (parser.given(name)) {
        return parser.wrong("--" + std::string(name) + " and --for diff exclude each other");
      }
    }
    return save_runs(standard, output);
  }
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
  Console console(standard.console);
  return run_sum("save", standard, console, options, {}, [&](const Partial& sum) {
    return finish_work([&] { return write_partial(sum, output, standard.overwrite); },
                       subjects_of("save", standard), console);
  });
}

}  // namespace

Command save_command() {
  return {
      .name = "save",
      .summary = "the tables of traces in a small file that adds up with others, or runs for diff",
      .usage = "[OPTIONS] INPUT... -o OUT",
      .about = kAbout,
      .options = {{"Kind of file",
                   {{.name = "for",
                     .value = "WHAT",
                     .help = "tables: for the verbs that show tables; diff: runs to compare with",
                     .otherwise = "tables",
                     .choices = {"tables", "diff"}}}},
                  {"Operators",
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
      .examples = {{"tbtrace save trace.json.gz -o trace.tbp", "the tables of one trace"},
                   {"tbtrace save ranks/ -o job.tbp", "those of all ranks of a job"},
                   {"tbtrace kernels job.tbp", "the kernels of all ranks together"},
                   {"tbtrace save --for diff run1.json run2.json run3.json run4.json -o base.tbb",
                    "four runs in one file"},
                   {"tbtrace diff base.tbb new.json.gz --fail-if 'step_time>+3%'",
                    "a later run against them"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
