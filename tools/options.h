// The options that all verbs share, and parsing of a verb's own options.
// Owns the parsed values. One thread.
// A wrong option prints a message and where to look on standard error, and ends the verb with exit
// code 2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "command.h"
#include "console.h"
#include "option.h"

namespace tbtrace::tools {

struct StandardOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: not given
  bool overwrite = false;
  ReadOptions reading;
  Console::Options console;
};

/// The options that every verb has.
OptionGroup standard_options();

/// A verb's own options, then the standard ones.
std::vector<OptionGroup> all_options(const Command& command);

/// The help text of an option, with its default value.
std::string description(const Option& option);

/// The option's choices, if its description leaves several of them out.
std::vector<std::string_view> unnamed_choices(const Option& option);

bool contains(const std::vector<std::string_view>& names, std::string_view name);

/// `csv, json or md`.
std::string listed(const std::vector<std::string_view>& choices);

/// The values of an option that is a list, in views into `text`.
std::vector<std::string_view> list_of(std::string_view text);

class OptionParser {
 public:
  /// `command` must outlive the parser.
  explicit OptionParser(const Command& command) : command_(command) {}

  /// The exit code if the verb should end here: help was requested, or the options are wrong.
  std::optional<int> parse(const std::vector<std::string>& arguments);

  const StandardOptions& standard() const { return standard_; }
  const Command& command() const { return command_; }

  // The following take the name of an option of the verb.

  bool given(const std::string& name) const;
  /// Whether the verb has the option.
  bool has(const std::string& name) const { return values_.contains(name); }
  /// Whether an option without a value was given, and not as `--option=false`.
  bool flag(const std::string& name) const;
  /// The option's value, or its default if it was not given. The last one if it was given more than
  /// once; of a list all, separated by commas.
  const std::string& text(const std::string& name) const;
  /// Of an option that takes words.
  const std::vector<std::string>& words(const std::string& name) const;

  /// Reports wrong options; returns the exit code.
  int wrong(const std::string& message) const;

 private:
  struct Value {
    bool given = false;
    bool is_true = false;
    std::string text;
    std::vector<std::string> words;
  };

  // These return what is wrong with options, empty if nothing is.
  std::string check_choices() const;
  std::string take_standard();

  const Command& command_;
  std::map<std::string, Value> values_;
  StandardOptions standard_;
};

/// nullopt if `text` is not a whole number.
std::optional<std::int64_t> whole_number(std::string_view text);

/// The output path, `-` if none was given.
std::string output_of(const StandardOptions& options);

/// The format for a file's suffix, empty if it is none of `known`.
std::string format_of_suffix(std::string_view path,
                             const std::vector<std::pair<std::string, std::string>>& known);

}  // namespace tbtrace::tools
