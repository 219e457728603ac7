#include "libtorch/record/gpu_recording.h"

#include <chrono>
#include <exception>
#include <utility>

#include <ATen/core/ivalue.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include "recorder/process/process.h"
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

/// A second copy of tbtrace would take CUPTI's records from the first, and switch them off at its
/// end. The window's start says so.
bool may_record() { return recorder::why_nothing_is_recorded().empty(); }

void add_problem(recorder::Recording& recording, const std::string& problem) {
  std::string json;
  wire::append_json_string(json, problem);
  static_cast<void>(recording.add_metadata("tbtrace_device_tracing", std::move(json)));
}

}  // namespace

GpuRecording::GpuRecording(const ExperimentalOptions& options, const CuptiOptions& cupti,
                           bool is_wanted, bool was_named,
                           std::function<void(std::string_view)> warn)
    : options_{.extras = {.synchronization = options.enable_cuda_sync_events,
                          .overhead = options.cuda_overhead,
                          .markers = options.nvtx,
                          .operator_ids = options.check_launches,
                          .all_calls = cupti.all_calls},
               .wait_for_device = options.wait_for_device,
               .patience = cupti.patience,
               .most_buffer_bytes = cupti.max_buffer_bytes,
               .detach_at_end = cupti.detach_at_end},
      is_wanted_(is_wanted),
      was_named_(was_named),
      warn_(std::move(warn)) {
  if (!is_wanted_) return;
  if (cupti.attach_early) {
    if (!may_record()) return;
    tbtrace::cupti::SessionOptions attached = options_;
    attached.is_idle = true;
    Result<Session> session = begin(attached);
    if (session.ok()) {
      attached_ = *std::move(session);
    } else {
      disable(session.status(), nullptr);
    }
  } else if (was_named_) {
    const auto collector = find_collector();
    if (!collector.ok()) disable(collector.status(), nullptr);
  }
}

GpuRecording::~GpuRecording() {
  try {
    warn_of_last_window();
  } catch (...) {
    // The listener threw, and a destructor may not.
  }
}

void GpuRecording::warn_once(const std::string& sentence) {
  if (sentence.empty() || sentence == warned_) return;
  warned_ = sentence;
  warn_(sentence);
}

/// If GPUs were not asked for by name, it is fine that there are none.
void GpuRecording::disable(const Status& status, recorder::Recording* recording) {
  if (status.code() == StatusCode::unreadable_input && !was_named_) return;
  warn_once("CUDA is not available, disabling CUDA profiling: " + status.message());
  if (recording != nullptr) add_problem(*recording, status.message());
}

/// Decoding may take longer than the window; then the next one's beginning, or the profiler's end,
/// is soon enough.
void GpuRecording::warn_of_last_window() {
  if (!problem_.valid() ||
      problem_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return;
  }
  std::string problem;
  try {
    problem = std::exchange(problem_, {}).get();
  } catch (const std::exception&) {
    problem = "there was no memory for the GPU's records";
  }
  if (!problem.empty()) warn_once("the GPU's activity was not recorded completely: " + problem);
}

/// A driver or a CUPTI that was not there is not searched for again, which can take milliseconds.
Result<cupti::Collector*> GpuRecording::find_collector() {
  if (!not_found_.ok()) return not_found_;
  Result<cupti::Collector*> found = cupti::process_collector();
  if (found.status().code() == StatusCode::unreadable_input) not_found_ = found.status();
  return found;
}

Result<GpuRecording::Session> GpuRecording::begin(const cupti::SessionOptions& options) {
  const auto collector = find_collector();
  if (!collector.ok()) return collector.status();
  if (torch_profiles_this_thread()) return Status(StatusCode::check_failed, kTorchProfiles);
  return (*collector)->begin(options);
}

void GpuRecording::prepare(recorder::Recording& recording) {
  if (!is_wanted_) return;
  warn_of_last_window();
  session_ = nullptr;
  if (!may_record()) return;
  Result<Session> session = begin(options_);
  if (!session.ok()) {
    disable(session.status(), &recording);
    return;
  }
  session_ = *std::move(session);
  warn_once(session_->shortcoming());  // which is in the file with the window's activity
}

void GpuRecording::start(const recorder::Recording& recording) {
  if (session_ == nullptr) return;
  session_->begin_window(recording.device_journal());
  is_started_ = true;
}

void GpuRecording::toggle(bool enable) {
  if (!is_started_) return;
  if (enable) {
    session_->resume_window();
  } else {
    session_->pause_window();
  }
}

void GpuRecording::stop(recorder::Recording& recording) {
  if (std::exchange(is_started_, false)) {
    recording.set_device_trace(session_->end_window());
    problem_ = session_->problem();
  }
  session_ = nullptr;
}

}  // namespace tbtrace::libtorch
