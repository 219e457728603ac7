#include "libtorch/gpu_recording.h"

#include <utility>

#include <ATen/core/ivalue.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "wire/json_text.h"

namespace tbtrace::libtorch {

namespace {

/// torch's profiler has a state for each thread that it profiles; it takes CUPTI's records away
/// from whoever else gets them.
bool torch_profiles_this_thread() {
  return c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) != nullptr;
}

constexpr const char* kTorchProfiles =
    "torch's own profiler is active on this thread, and CUPTI gives its records to one only; stop "
    "it first";

void note(recorder::Recording& recording, const std::string& problem) {
  std::string json;
  wire::append_json_string(json, problem);
  static_cast<void>(recording.add_metadata("tbtrace_device_tracing", std::move(json)));
}

}  // namespace

GpuRecording::GpuRecording(const ExperimentalOptions& options, bool is_wanted, bool was_named,
                           std::function<void(std::string_view)> warn)
    : options_{.waits = options.enable_cuda_sync_events,
               .overhead = options.cuda_overhead,
               .markers = options.nvtx,
               .operator_ids = options.check_launches,
               .wait_for_device = options.wait_for_device},
      is_wanted_(is_wanted),
      was_named_(was_named),
      warn_(std::move(warn)) {
  if (!is_wanted_ || !was_named_) return;
  const auto collector = cupti::process_collector();
  if (!collector.ok()) tell(collector.status().message());
}

void GpuRecording::tell(const std::string& problem) {
  if (problem == told_) return;
  told_ = problem;
  warn_("CUDA is not available, disabling CUDA profiling: " + problem);
}

/// Begins a session; the reason if none can be begun.
std::string GpuRecording::why_not() {
  const auto collector = cupti::process_collector();
  if (!collector.ok()) return collector.status().message();
  if (torch_profiles_this_thread()) return kTorchProfiles;
  auto session = (*collector)->begin(options_);
  if (!session.ok()) return session.status().message();
  session_ = *std::move(session);
  return {};
}

void GpuRecording::prepare(recorder::Recording& recording) {
  if (!is_wanted_) return;
  session_ = nullptr;
  if (const std::string problem = why_not(); !problem.empty()) {
    const auto collector = cupti::process_collector();
    const bool is_there =
        collector.ok() || collector.status().code() != StatusCode::unreadable_input;
    if (is_there || was_named_) {
      tell(problem);
      note(recording, problem);
    }
  } else if (!session_->shortcoming().empty()) {
    if (session_->shortcoming() != told_) warn_(session_->shortcoming());
    told_ = session_->shortcoming();
    note(recording, told_);
  }
}

void GpuRecording::start() {
  if (session_ == nullptr) return;
  session_->begin_window();
  is_started_ = true;
}

void GpuRecording::stop(recorder::Recording& recording) {
  if (std::exchange(is_started_, false)) recording.set_device_activity(session_->end_window());
  session_ = nullptr;
}

}  // namespace tbtrace::libtorch
