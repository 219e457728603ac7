#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace tbtrace::tools {

std::size_t columns_of(int descriptor) {
  winsize size = {};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::size_t terminal_width(const StandardOptions& options) {
  if (output_of(options) != "-" || ::isatty(STDOUT_FILENO) == 0) return 0;
  return columns_of(STDOUT_FILENO);
}

Option wide_option() {
  return {.name = "wide",
          .help = "as text, all columns instead of the first ones that fit the terminal"};
}

}  // namespace tbtrace::tools
