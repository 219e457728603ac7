#include <array>

#include "command.h"

namespace tbtrace::tools {

std::span<const Command> commands() {
  static constexpr std::array kCommands = std::to_array<Command>({
      {"ops", "operator summary: what key_averages().table() would have printed", run_ops},
      {"flamegraph", "flame graph: CPU time, device time or memory by call stack", run_flamegraph},
      {"convert", "log directories for TensorBoard, one trace or a thousand", run_convert},
      {"doctor", "what this build can do and this machine lets it: libraries, GPU tracing",
       run_doctor},
  });
  return kCommands;
}

}  // namespace tbtrace::tools
