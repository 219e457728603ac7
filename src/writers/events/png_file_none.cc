// png_file() where libpng is not installed.
#include "writers/events/png.h"

namespace tbtrace::writers {

bool has_png_files() { return false; }

Result<std::string> png_file(const Pixels& /*pixels*/) {
  return Status(
      StatusCode::invalid_argument,
      "this build cannot write PNG files: it was built without libpng; install libpng-dev "
      "and build tbtrace again, or give the bytes of a PNG file");
}

}  // namespace tbtrace::writers
