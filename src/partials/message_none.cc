// message.h without protobuf: can_write_partials() is asked first.
#include "partials/message.h"

namespace tbtrace::partials {

Status can_write_partials() {
  return {StatusCode::invalid_argument,
          "this build can neither write nor read partials: it was built without protobuf; install "
          "libprotobuf-dev and protobuf-compiler, and build tbtrace again"};
}

std::string message_of(const Content& /*content*/) { return {}; }

Result<std::unique_ptr<Content>> content_in(std::string_view /*message_bytes*/) {
  return can_write_partials();
}

}  // namespace tbtrace::partials
