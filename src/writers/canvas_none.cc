// make_canvas() where cairo is not installed.
#include "writers/canvas.h"

namespace tbtrace::writers {

bool has_canvas() { return false; }

Result<std::unique_ptr<Canvas>> make_canvas(int /*width*/, int /*height*/, int /*scale*/) {
  return Status(StatusCode::invalid_argument,
                "this build cannot write PNG files: it was built without cairo; write an SVG "
                "instead, or install libcairo2-dev and build tbtrace again");
}

}  // namespace tbtrace::writers
