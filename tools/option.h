// A verb's options as data. The parser, the help, the man page and the shell completions are
// generated from it.
#pragma once

#include <string_view>
#include <vector>

namespace tbtrace::tools {

struct Option {
  std::string_view name;            ///< `output` for --output
  std::string_view value = {};      ///< the value's name in the help; empty: no value
  std::string_view help;            ///< one sentence without a full stop
  std::string_view otherwise = {};  ///< default value; empty: none
  char letter = '\0';               ///< `o` for -o
  /// Values that are known in advance, each a word of letters, digits, - and _.
  std::vector<std::string_view> choices = {};
  bool takes_others = false;  ///< also takes other values, which the verb checks
  bool takes_path = false;
  /// Takes several values, separated by commas or in several options.
  bool is_list = false;
  /// Takes all words up to the next option, and several options: OptionParser::words().
  bool takes_words = false;
};

struct OptionGroup {
  std::string_view title;
  std::vector<Option> options;
};

}  // namespace tbtrace::tools
