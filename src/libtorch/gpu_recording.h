// The part of a profiler that records GPUs, where they can be recorded.
// For the thread that records. What goes wrong is told once to the listener and to the recording,
// and the rest is recorded as if no GPU had been asked for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/profiler.h>

#include "cupti/collector.h"
#include "recorder/recording.h"

namespace tbtrace::libtorch {

class GpuRecording {
 public:
  /// `was_named`: GPUs were asked for by name; where there are none, that is worth a warning.
  GpuRecording(const ExperimentalOptions& options, bool is_wanted, bool was_named,
               std::function<void(std::string_view)> warn);

  /// Has the driver trace from here on, so that the start costs nothing.
  void prepare(recorder::Recording& recording);
  void start();
  /// To be called before the recording is closed.
  void stop(recorder::Recording& recording);

 private:
  std::string why_not();
  void tell(const std::string& problem);

  const cupti::SessionOptions options_;
  const bool is_wanted_;
  const bool was_named_;
  const std::function<void(std::string_view)> warn_;
  std::string told_;  // the last warning
  std::unique_ptr<cupti::Collector::Session> session_;
  bool is_started_ = false;
};

}  // namespace tbtrace::libtorch
