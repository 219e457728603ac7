#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tbtrace::tools {

std::size_t terminal_width(const StandardOptions& options) {
  if (output_of(options) != "-" || ::isatty(STDOUT_FILENO) == 0) return 0;
  winsize size = {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

Option wide_option() {
  return {.name = "wide",
          .help = "as text, all columns instead of the first ones that fit the terminal"};
}

}  // namespace tbtrace::tools
