// Descriptions of the program as a whole, for `tbtrace --help` and the man page.
#pragma once

#include <string_view>
#include <vector>

#include "option.h"

namespace tbtrace::tools {

inline constexpr std::string_view kProgramSummary =
    "why a PyTorch program is slow, from the traces of its profiler";

inline constexpr std::string_view kInputText =
    "An input is a trace as prof.export_chrome_trace() writes it, plain, compressed or in a\n"
    "zip or tar archive; - is standard input.\n";

/// Options that are used in place of a verb.
std::vector<Option> program_options();

struct ExitCode {
  int code;
  std::string_view meaning;
};
std::vector<ExitCode> exit_codes();

struct EnvironmentVariable {
  std::string_view name;
  std::string_view meaning;
};
std::vector<EnvironmentVariable> environment_variables();

}  // namespace tbtrace::tools
