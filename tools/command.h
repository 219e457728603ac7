// The verbs of the program. Those of tables are made from their descriptions. To add another, add a
// file <verb>_command.cc with the function that describes it, name it in CMakeLists.txt, declare
// the function below and list it in commands.cc. The help, the man page and the completions follow.
// A command gets parsed options, calls the library and prints; it returns the exit code.
// One thread. No state is kept between calls.
#pragma once

#include <string_view>
#include <vector>

#include "option.h"

namespace tbtrace::tools {

class OptionParser;

struct Example {
  std::string_view command;
  std::string_view meaning;
};

enum class Inputs {
  none,
  needed,       ///< at least one on the command line
  in_lists_too  ///< may be in lists; the command checks whether there are any
};

struct Command {
  std::string_view name;     ///< of several words if an option of a verb makes it: `gpu --gaps`
  std::string_view summary;  ///< one line for `tbtrace --help`
  std::string_view usage;    ///< the text after `tbtrace VERB`
  std::string_view about;    ///< some lines for `tbtrace VERB --help`
  std::vector<OptionGroup> options;  ///< in addition to standard_options()
  std::vector<Example> examples;
  Inputs inputs = Inputs::needed;
  int (*run)(const OptionParser& options);
};

/// All verbs, in the order of the help.
std::vector<Command> commands();

Command record_command();
Command summary_command();
Command ops_command();
Command flamegraph_command();
Command report_command();
Command open_command();
Command flops_command();
Command memory_command();
Command save_command();
Command add_command();
Command collectives_command();
Command merge_command();
Command check_command();
Command convert_command();
Command tensorboard_command();
Command mcp_command();
Command diff_command();
Command recover_command();
Command slice_command();
Command repair_command();
Command anonymise_command();
Command replay_command();
Command version_command();

}  // namespace tbtrace::tools
