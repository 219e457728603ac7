#include "command.h"

namespace tbtrace::tools {

std::vector<Command> commands() {
  return {summary_command(), ops_command(),     flamegraph_command(), steps_command(),
          kernels_command(), flops_command(),   gpu_command(),        memory_command(),
          modules_command(), lines_command(),   partial_command(),    merge_partials_command(),
          check_command(),   convert_command(), doctor_command()};
}

}  // namespace tbtrace::tools
