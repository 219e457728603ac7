// What `tbtrace --help` and `tbtrace VERB --help` print, 80 columns wide.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

namespace tbtrace::tools {

inline constexpr std::size_t kHelpWidth = 80;

/// Verbs that belong together, by their names in Command.
struct VerbGroup {
  std::string_view title;
  std::vector<std::string_view> first;  ///< those to begin with
  std::vector<std::string_view> more;
};

/// Each verb is in one of them.
std::vector<VerbGroup> verb_groups();

/// The verbs to begin with, and the names of the others; with `all` each with what it does.
std::string program_help(const std::vector<Command>& commands, bool all);

/// The text in lines of at most kHelpWidth, each after `indent` blanks. Lines that begin with a
/// blank, and empty ones, end a paragraph.
std::string reflowed(std::string_view text, std::size_t indent = 0);

/// The part of a verb's help after its options.
std::string examples_text(const Command& command);

}  // namespace tbtrace::tools
