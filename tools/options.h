// The options that all verbs share, and how a verb's own are parsed.
// Owns what it parsed. One thread.
// A wrong option is said on standard error with where to look, and ends the verb with exit code 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

// Values are taken whole: file names and titles may hold commas.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>

#include "console.h"

namespace tbtrace::tools {

struct StandardOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: not given
  std::string format;  ///< empty: not given
  bool overwrite = false;
  ReadOptions reading;
  Console::Options console;
};

class OptionParser {
 public:
  /// `usage`: what follows `tbtrace VERB `; `about` and `examples` stand around the options in the
  /// help.
  OptionParser(std::string verb, const std::string& usage, const std::string& about,
               std::string examples);

  /// For a verb's own options, before parse().
  cxxopts::OptionAdder add(const std::string& group = "");

  /// For verbs that look at the machine and not at traces.
  void take_no_inputs() { takes_inputs_ = false; }

  /// The exit code if there is nothing more to do: help was asked for, or the options are wrong.
  std::optional<int> parse(const std::vector<std::string>& arguments);

  const cxxopts::ParseResult& values() const { return values_; }
  const StandardOptions& standard() const { return standard_; }
  /// Whether an option without a value was given, and not as `--option=false`.
  bool flag(const std::string& name) const;

  /// Says that the options are wrong; returns the exit code.
  int wrong(const std::string& message) const;

 private:
  std::string help() const;
  std::string take_standard();

  std::string verb_;
  std::string examples_;
  cxxopts::Options options_;
  std::vector<std::string> groups_;  // of options, in the order of the help
  bool takes_inputs_ = true;
  cxxopts::ParseResult values_;
  StandardOptions standard_;
};

/// Nothing if `text` is no whole number.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Where to write, `-` if that was not said.
std::string output_of(const StandardOptions& options);

/// The format that a file's suffix asks for, empty if none of `known` does.
std::string format_of_suffix(std::string_view path,
                             const std::vector<std::pair<std::string, std::string>>& known);

}  // namespace tbtrace::tools
