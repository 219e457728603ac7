// The options that all verbs share, and how a verb's own are parsed.
// Owns what it parsed. One thread.
// A wrong option is said on standard error with where to look, and ends the verb with exit code 2.
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

/// Those that every verb has.
OptionGroup standard_options();

/// A verb's own, then the standard ones.
std::vector<OptionGroup> all_options(const Command& command);

/// The help, and what the option is if it is not given.
std::string description(const Option& option);

class OptionParser {
 public:
  /// `command` has to outlive the parser.
  explicit OptionParser(const Command& command) : command_(command) {}

  /// The exit code if there is nothing more to do: help was asked for, or the options are wrong.
  std::optional<int> parse(const std::vector<std::string>& arguments);

  const StandardOptions& standard() const { return standard_; }

  // For an option that the verb has.

  bool given(const std::string& name) const;
  /// Whether an option without a value was given, and not as `--option=false`.
  bool flag(const std::string& name) const;
  /// The value; of an option that was not given, what it has otherwise.
  const std::string& text(const std::string& name) const;

  /// Says that the options are wrong; returns the exit code.
  int wrong(const std::string& message) const;

 private:
  struct Value {
    bool given = false;
    bool is_true = false;
    std::string text;
  };

  // These say what is wrong with options, nothing if all is well.
  std::string check_choices() const;
  std::string take_standard();

  const Command& command_;
  std::map<std::string, Value> values_;
  StandardOptions standard_;
};

/// Nothing if `text` is not a whole number.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Where to write, `-` if that was not said.
std::string output_of(const StandardOptions& options);

/// The format that a file's suffix asks for, empty if none of `known` does.
std::string format_of_suffix(std::string_view path,
                             const std::vector<std::pair<std::string, std::string>>& known);

}  // namespace tbtrace::tools
