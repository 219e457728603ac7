// The verbs of the program. To add one: a file <verb>_command.cc with its function, and its row in
// commands.cc.
// A command parses, calls the library and prints; it returns the exit code.
// One thread. Nothing is kept between calls.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::tools {

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line for `tbtrace --help`
  int (*run)(const std::vector<std::string>& arguments);
};

/// All verbs, in the order of the help.
std::span<const Command> commands();

int run_ops(const std::vector<std::string>& arguments);
int run_convert(const std::vector<std::string>& arguments);
int run_flamegraph(const std::vector<std::string>& arguments);
int run_doctor(const std::vector<std::string>& arguments);

}  // namespace tbtrace::tools
