// The part of a profiler that records GPUs, where they can be recorded.
// For the thread that records. What goes wrong is reported once to the listener and noted in the
// recording, and the rest is recorded as if no GPU had been asked for.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/profiler.h>

#include "cupti/collector.h"
#include "recorder/log/recording.h"

namespace tbtrace::libtorch {

class GpuRecording {
 public:
  /// `was_named`: GPUs were asked for by name; where there are none, that is worth a warning.
  GpuRecording(const ExperimentalOptions& options, const CuptiOptions& cupti, bool is_wanted,
               bool was_named, std::function<void(std::string_view)> warn);
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;
  /// Warns of what is known about the last window by then.
  ~GpuRecording();

  /// Has the driver trace from here on, so that the start costs nothing.
  void prepare(recorder::Recording& recording);
  void start(const recorder::Recording& recording);
  /// Leaves out what the GPUs do from here on, or goes on recording it. Nothing where no GPU is
  /// recorded.
  void toggle(bool enable);
  /// To be called before the recording is closed.
  void stop(recorder::Recording& recording);

 private:
  using Session = std::unique_ptr<cupti::Collector::Session>;

  Result<cupti::Collector*> find_collector();
  Result<Session> begin(const cupti::SessionOptions& options);
  void disable(const Status& status, recorder::Recording* recording);
  void warn_once(const std::string& sentence);
  void warn_of_last_window();

  const cupti::SessionOptions options_;
  const bool is_wanted_;
  const bool was_named_;
  const std::function<void(std::string_view)> warn_;
  std::string warned_;  // the last warning
  Status not_found_;    // the driver or CUPTI: why it was not found
  Session attached_;    // from the constructor on
  Session session_;
  std::shared_future<std::string> problem_;  // of the last window
  bool is_started_ = false;
};

}  // namespace tbtrace::libtorch
