// tensorboard_trace_handler: the names and the folder of log files.
#include <utility>

#include <tbtrace/profiler.h>

namespace tbtrace {

std::function<void(Profiler&)> tensorboard_trace_handler(std::string directory,
                                                         TensorboardOptions options) {
  return [directory = std::move(directory), options = std::move(options)](Profiler& profiler) {
    profiler.export_in_background(directory, options);
  };
}

}  // namespace tbtrace
