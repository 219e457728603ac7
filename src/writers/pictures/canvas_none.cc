// canvas.h for builds without cairo's headers.
#include "writers/pictures/canvas.h"

namespace tbtrace::writers {

bool knows_cairo() { return false; }

Status can_draw() {
  return {StatusCode::invalid_argument,
          "this build cannot write PNG files: it was built without cairo; write an SVG instead, or "
          "install libcairo2-dev and build tbtrace again"};
}

Result<std::unique_ptr<Canvas>> make_canvas(int /*width*/, int /*height*/, int /*scale*/) {
  return can_draw();
}

}  // namespace tbtrace::writers
