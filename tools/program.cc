#include "program.h"

#include "console.h"

namespace tbtrace::tools {

std::vector<Option> program_options() {
  return {{.name = "help", .help = "the verbs to begin with; with --all all verbs", .letter = 'h'}};
}

std::vector<ExitCode> exit_codes() {
  return {{kDone, "done"},
          {kCheckFailed, "a check failed, such as --strict"},
          {kWrongUsage, "wrong usage"},
          {kUnreadableInput, "an input could not be read, or needs more memory than there is"},
          {kSomeInputsFailed, "some of several inputs failed"},
          {kUnwritableOutput, "an output could not be written"},
          {kInconclusive, "diff: the runs do not tell whether a limit is exceeded"},
          {kNotComparable, "diff: the two sides cannot be compared"}};
}

std::vector<EnvironmentVariable> environment_variables() {
  return {{"NO_COLOR", "messages and results have no color if it is set and not empty"},
          {"BROWSER",
           "the program that `open` shows the page with: commands separated by colons, of which "
           "the first that works is used; %s stands for the address (default: xdg-open)"},
          {"XDG_CACHE_HOME", "`open` writes pages into tbtrace/pages in it (default: ~/.cache)"},
          {"TMPDIR", "where convert keeps a copy of what it reads from a pipe (default: /tmp)"},
          {"TBTRACE_PYTHON", "the Python that `tensorboard` and `mcp` start"},
          {"TBTRACE_CUPTI", "path of libcupti.so, which is looked for otherwise"}};
}

}  // namespace tbtrace::tools
