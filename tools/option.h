// A verb's options as data. The parser, the help, the man page and the completions of shells are
// made from it.
#pragma once

#include <string_view>
#include <vector>

namespace tbtrace::tools {

struct Option {
  std::string_view name;            ///< `output` for --output
  std::string_view value = {};      ///< how the help names the value; empty: there is none
  std::string_view help;            ///< one sentence without a full stop
  std::string_view otherwise = {};  ///< the value if the option is not given; empty: none
  char letter = '\0';               ///< `o` for -o
  /// Values that can be told in advance, each a word of letters, digits, - and _.
  std::vector<std::string_view> choices = {};
  bool takes_others = false;  ///< besides the choices; the verb checks them
  bool takes_path = false;
};

struct OptionGroup {
  std::string_view title;
  std::vector<Option> options;
};

}  // namespace tbtrace::tools
