// Colour in results, where it helps to read: how much a finding costs, errors, warnings, verdicts.
// Words say the same, so nothing is lost without it. Pure function but for what it asks the
// terminal.
#pragma once

#include <string>

#include "options.h"

namespace tbtrace::tools {

/// A result in text, with colour if it goes to standard output and `--color` says so: by default
/// where that is a terminal and NO_COLOR is not set.
std::string with_colors(std::string text, const StandardOptions& options);

}  // namespace tbtrace::tools
