#include <tbtrace/capabilities.h>
#include <tbtrace/version.h>

#include "io/deflater.h"
#include "symbols/code_places.h"

namespace tbtrace {

Capabilities capabilities() {
  return {.version = version(),
          .gzip_library = io::gzip_library(),
          .stack_lines = symbols::knows_lines(),
          .pictures = TBTRACE_PICTURES};
}

}  // namespace tbtrace
