// make_canvas() where cairo is not installed.
#include "writers/canvas.h"

namespace tbtrace::writers {

bool has_canvas() { return false; }

Result<std::unique_ptr<Canvas>> make_canvas(int /*width*/, int /*height*/, int /*scale*/) {
  return Status(StatusCode::invalid_argument,
                "this build draws no PNG, because cairo was not there when it was made; write an "
                "SVG instead, or install libcairo2-dev and build tbtrace again");
}

}  // namespace tbtrace::writers
