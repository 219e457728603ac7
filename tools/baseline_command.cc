#include <string>
#include <vector>

#include <unistd.h>

#include <tbtrace/diff.h>
#include <tbtrace/report.h>

#include "command.h"
#include "console.h"
#include "inputs.h"
#include "options.h"
#include "run_inputs.h"

namespace tbtrace::tools {
namespace {

constexpr const char* kAbout =
    "Writes a small file that stands for runs of a program, at most 100 KB, to compare later runs\n"
    "with: tbtrace diff base.tbb new.json.gz. Each input is a run: a trace, a folder with those "
    "of\n"
    "its ranks, or a baseline, whose runs are taken over. Five runs or more show how much runs\n"
    "vary, so that a single new run can get a verdict. Rows are kept to 99 % of the time.\n";

int run(const OptionParser& parser) {
  const StandardOptions& standard = parser.standard();
  const std::string output = output_of(standard);
  if (output == "-" && ::isatty(STDOUT_FILENO) != 0) {
    return parser.wrong("a baseline does not go to a terminal; name a file with -o");
  }
  Console console(standard.console);
  const Subjects subjects = subjects_of("baseline", standard);
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

}  // namespace

Command baseline_command() {
  return {
      .name = "baseline",
      .summary = "a small file that stands for runs, for diff",
      .usage = "[OPTIONS] INPUT... -o base.tbb",
      .about = kAbout,
      .options = {},
      .examples = {{"tbtrace baseline run1.json.gz run2.json.gz run3.json.gz run4.json.gz "
                    "run5.json.gz -o base.tbb",
                    "five runs in one file"},
                   {"tbtrace diff base.tbb new.json.gz --fail-if 'step_time>+3%'",
                    "a later run against them"}},
      .run = run,
  };
}

}  // namespace tbtrace::tools
