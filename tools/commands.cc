#include "command.h"

namespace tbtrace::tools {

std::vector<Command> commands() {
  return {
      ops_command(),
      flamegraph_command(),
      convert_command(),
      doctor_command(),
  };
}

}  // namespace tbtrace::tools
