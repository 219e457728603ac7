// The terminal that results are printed on.
#pragma once

#include <cstddef>

#include "option.h"
#include "options.h"

namespace tbtrace::tools {

/// Characters of a line of a terminal; 0 if the descriptor is not a terminal, or does not say.
std::size_t columns_of(int descriptor);

/// Characters of a line if results go to a terminal; 0 if they go to a file or a pipe, or if the
/// terminal does not say.
std::size_t terminal_width(const StandardOptions& options);

/// `--wide`: all columns of a table, whatever the terminal.
Option wide_option();

}  // namespace tbtrace::tools
