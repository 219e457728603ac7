#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <tbtrace/profiler.h>
#include <tbtrace/writers.h>

#include "api/recorded_window.h"
#include "libtorch/device_memory_watch.h"
#include "libtorch/gpu_recording.h"
#include "libtorch/input_encoding.h"
#include "libtorch/memory_watch.h"
#include "libtorch/modules.h"
#include "libtorch/observer.h"
#include "libtorch/operator_names.h"
#include "libtorch/operator_schemas.h"
#include "libtorch/results.h"
#include "libtorch/unwind.h"
#include "recorder/active.h"
#include "recorder/chunk.h"
#include "recorder/cycle.h"
#include "recorder/memory_timeline.h"
#include "recorder/messages.h"
#include "recorder/recording.h"
#include "trace/step_names.h"
#include "wire/json_text.h"
#include "writers/memory_timeline.h"

namespace tbtrace {

namespace {

void refuse(const Status& status) {
  if (!status.ok()) throw std::invalid_argument(status.message());
}

void check_activities(const std::vector<Activity>& activities) {
  for (const Activity activity : {Activity::cpu, Activity::cuda}) {
    if (std::count(activities.begin(), activities.end(), activity) > 1) {
      throw std::invalid_argument(std::string("Activity ") +
                                  (activity == Activity::cpu ? "CPU" : "CUDA") +
                                  " specified more than once");
    }
  }
}

/// `cpu`, `cuda:N`, and `cuda` for the first one.
recorder::MemoryDevice memory_device(std::string_view name) {
  using recorder::MemoryDevice;
  if (name == "cpu") return MemoryDevice::cpu();
  if (name == "cuda") return MemoryDevice::cuda(0);
  constexpr std::string_view kNumbered = "cuda:";
  if (name.starts_with(kNumbered)) {
    const std::string_view digits = name.substr(kNumbered.size());
    int index = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), index);
    const MemoryDevice device = MemoryDevice::cuda(index);
    if (error == std::errc() && end == digits.end() && device.is_cuda()) return device;
  }
  throw std::invalid_argument("the memory timeline of device '" + std::string(name) +
                              "' was asked for; devices are 'cpu', 'cuda' and 'cuda:N'");
}

constexpr const char* kDistributedInfo = "distributedInfo";
constexpr std::size_t kReservedChunks = 8;  // 2 MiB: a short window of a few threads

}  // namespace

/// Does what the cycle asks for.
class Profiler::Driver final : public recorder::CycleTarget {
 public:
  Driver(Profiler& profiler, ProfilerOptions options)
      : profiler_(profiler),
        options_(std::move(options)),
        cycle_(options_.schedule, options_.acc_events, *this),
        results_([this](std::string_view sentence) { warn(sentence); }) {
    check_activities(options_.activities);
    refuse(cycle_.made());
    gpu_.emplace(options_.experimental, has(Activity::cuda), !options_.activities.empty(),
                 [this](std::string_view sentence) { warn(sentence); });
  }

  recorder::Cycle& cycle() { return cycle_; }

  void finish() {
    tell(cycle_.stop());
    if (cycle_.handed_over() || !options_.schedule) return;
    warn("the profiler was stopped in step " + std::to_string(cycle_.step_num()) + " (" +
         action_name(cycle_.action()) +
         ") before its schedule had recorded a whole cycle, so nothing was handed over; call "
         "step() after each step of the loop, or look at the schedule with explain()");
  }

  void tell(const Status& status) {
    if (status.ok()) return;
    if (status.code() == StatusCode::invalid_argument) refuse(status);
    warn(status.message());
  }

  // What the cycle drives.

  void make() override { results_.clear(); }

  void prepare() override {
    libtorch::load_operator_names();
    if (options_.with_stack && !libtorch::can_unwind()) {
      warn(
          "C++ stacks cannot be recorded on this machine, so with_stack records TorchScript stacks "
          "only");
    }
    recorder::reserve_chunks(kReservedChunks);
    prepared_ = std::make_shared<recorder::Recording>(
        recorder::RecordingOptions{.record_shapes = options_.record_shapes,
                                   .profile_memory = options_.profile_memory,
                                   .with_stack = options_.with_stack,
                                   .with_flops = options_.with_flops,
                                   .with_modules = options_.with_modules,
                                   .element_types = libtorch::element_type_names(),
                                   .element_bytes = libtorch::element_type_bytes(),
                                   .modules = models_.map()});
    if (!distributed_info_.empty()) keep(*prepared_, kDistributedInfo, distributed_info_);
    gpu_->prepare(*prepared_);
  }

  void start() override {
    if (prepared_ == nullptr) {
      warn(
          "recording starts without a warm-up, since the schedule went from RECORD to WARMUP; it "
          "is prepared now");
      prepare();
    }
    recording_ = std::exchange(prepared_, nullptr);
    slot_ = recorder::activate(recording_);
    if (!slot_) {
      warn("nothing is recorded: " + std::to_string(recorder::kSlots) +
           " profilers are recording already; stop one");
    }
    recording_->start();
    tell_known_tensors();
    if (slot_) gpu_->start();
    if (slot_ && has(Activity::cpu)) observe();
  }

  void stop() override {
    if (recording_ == nullptr) {
      warn("nothing was being recorded that could be stopped");
      make();
      return;
    }
    if (observer_) ignore();
    gpu_->stop(*recording_);
    if (slot_) recorder::deactivate(*slot_);
    tell_known_tensors();
    recording_->close();
    if (const std::uint64_t lost = recording_->lost(); lost > 0) {
      warn(std::to_string(lost) + " records were lost, since there was no memory for them");
    }
    slot_.reset();
    results_.add(std::exchange(recording_, nullptr));
  }

  void ready(std::int64_t) override {
    if (options_.on_trace_ready) options_.on_trace_ready(profiler_);
  }

  void open_step(std::int64_t step) override { step_range_.emplace(step_name(step)); }
  void close_step() override { step_range_.reset(); }

  void warn(std::string_view sentence) override {
    if (options_.experimental.on_warning) {
      options_.experimental.on_warning(sentence);
    } else {
      recorder::warn(sentence);
    }
  }
  /// What listens may throw, but not here.
  void warn_anyway(std::string_view sentence) noexcept {
    try {
      warn(sentence);
    } catch (...) {
    }
  }
  bool device_stopped() override { return false; }

  // Everything else.

  void toggle(bool enable, const std::vector<Activity>& activities) {
    for (const Activity activity : activities) {
      if (activity != Activity::cpu) {
        warn("only the collection of CPU activity can be toggled");
      } else if (recording_ == nullptr || !slot_) {
        warn("collection can only be toggled while a cycle is recorded");
      } else if (enable && !observer_) {
        observe();
      } else if (!enable && observer_) {
        ignore();
      }
    }
  }

  void attach(const torch::nn::Module& model, const std::string& name) { models_.add(model, name); }

  void add_metadata(const std::string& key, std::string json) {
    recorder::Recording* const recording =
        recording_ != nullptr ? recording_.get() : prepared_.get();
    if (recording == nullptr) {
      warn("metadata is kept only while a cycle is prepared or recorded; '" + key +
           "' was dropped");
      return;
    }
    keep(*recording, key, std::move(json));
  }

  void set_distributed_info(std::string json) {
    distributed_info_ = std::move(json);
    for (const auto& recording : {prepared_, recording_}) {
      if (recording != nullptr) keep(*recording, kDistributedInfo, distributed_info_);
    }
  }

  bool with_stack() const { return options_.with_stack; }

  /// \throws std::invalid_argument if options are missing.
  Status export_memory_timeline(const std::string& path, std::string_view device) {
    std::string missing;
    for (const auto& [name, is_on] : {std::pair("record_shapes", options_.record_shapes),
                                      std::pair("profile_memory", options_.profile_memory),
                                      std::pair("with_stack", options_.with_stack)}) {
      if (is_on) continue;
      if (!missing.empty()) missing += ", ";
      missing += std::string(name) + "=True";
    }
    if (!missing.empty()) {
      throw std::invalid_argument(missing + " required for memory profiling.");
    }
    const recorder::MemoryDevice of = memory_device(device);
    const auto recording = results_.last();
    if (!recording.ok()) return recording.status();
    recorder::OperatorSchemas schemas(libtorch::schemas_of);
    return writers::write_memory_timeline(
        recorder::memory_timeline(recorder::Window(*recording), schemas, of), device, path);
  }

  libtorch::Results& results() { return results_; }

 private:
  void tell_known_tensors() {
    if (!recording_->options().has_storages()) return;
    recording_->add_known_tensors(models_.known_tensors());
  }

  bool has(Activity activity) const {
    return options_.activities.empty() ||
           std::count(options_.activities.begin(), options_.activities.end(), activity) > 0;
  }

  void keep(recorder::Recording& recording, const std::string& key, std::string json) {
    const Status kept = recording.add_metadata(key, std::move(json));
    if (!kept.ok()) warn(kept.message());
  }

  void observe() {
    const recorder::RecordingOptions& options = recording_->options();
    const bool has_models = options.modules != nullptr;
    observer_ =
        libtorch::add_observer(*slot_, {.inputs = options.wants_inputs() || has_models,
                                        .context = options.wants_modules(),
                                        .check_launches = options_.experimental.check_launches,
                                        .all_threads = options_.all_threads});
    if (!options_.profile_memory) return;
    libtorch::watch_memory(*slot_, *observer_, options_.all_threads);
    warn_once(libtorch::watch_device_memory(*slot_, *observer_, options_.all_threads).message());
  }

  void ignore() {
    if (options_.profile_memory) {
      libtorch::stop_watching_memory(*slot_);
      recorder::DeviceMemory memory = libtorch::stop_watching_device_memory(*slot_);
      warn_once(memory.problem);
      recording_->add_device_memory(std::move(memory));
    }
    libtorch::remove_observer(*observer_);
    observer_.reset();
  }

  void warn_once(const std::string& sentence) {
    if (sentence.empty() || sentence == warned_of_memory_) return;
    warned_of_memory_ = sentence;
    warn(sentence);
  }

  Profiler& profiler_;
  const ProfilerOptions options_;
  libtorch::AttachedModels models_;
  recorder::Cycle cycle_;

  std::shared_ptr<recorder::Recording> prepared_;
  std::shared_ptr<recorder::Recording> recording_;
  std::optional<std::size_t> slot_;
  std::optional<libtorch::ObserverHandle> observer_;
  std::optional<record_function> step_range_;
  std::optional<libtorch::GpuRecording> gpu_;

  std::string distributed_info_;  // JSON
  std::string warned_of_memory_;
  libtorch::Results results_;
};

Profiler::Profiler(ProfilerOptions options)
    : driver_(std::make_unique<Driver>(*this, std::move(options))) {}

Profiler::~Profiler() { end(); }

void Profiler::end() noexcept {
  if (!driver_->cycle().running()) return;
  try {
    driver_->finish();
  } catch (const std::exception& error) {
    driver_->warn_anyway(std::string("stopping the profiler failed: ") + error.what());
  } catch (...) {
    driver_->warn_anyway(
        "stopping the profiler failed: an exception was thrown that is not a std::exception");
  }
}

void Profiler::start() { driver_->tell(driver_->cycle().start()); }
void Profiler::step() { driver_->tell(driver_->cycle().step()); }
void Profiler::stop() { driver_->finish(); }

std::int64_t Profiler::step_num() const { return driver_->cycle().step_num(); }

void Profiler::attach(const torch::nn::Module& model, const std::string& name) {
  driver_->attach(model, name);
}

void Profiler::toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities) {
  driver_->toggle(enable, activities);
}

void Profiler::add_metadata(const std::string& key, std::string_view value) {
  std::string json;
  wire::append_json_string(json, value);
  driver_->add_metadata(key, std::move(json));
}

void Profiler::add_metadata_json(const std::string& key, std::string_view json) {
  driver_->add_metadata(key, std::string(json));
}

void Profiler::set_distributed_info(const DistributedInfo& info) {
  std::string json = "{\"backend\": ";
  wire::append_json_string(json, info.backend);
  json += ", \"rank\": " + std::to_string(info.rank);
  json += ", \"world_size\": " + std::to_string(info.world_size) + "}";
  driver_->set_distributed_info(std::move(json));
}

OperatorSummary Profiler::key_averages(const SummaryOptions& options) {
  return operator_summary(driver_->results().traces(), options);
}

EventList Profiler::events() { return tbtrace::events(driver_->results().traces()); }

Status Profiler::export_chrome_trace(const std::string& path) {
  const auto recording = driver_->results().last();
  if (!recording.ok()) return recording.status();
  return api::write_recording(*recording, path, Dialect::kineto, true);
}

Status Profiler::export_stacks(const std::string& path, std::string_view metric) {
  if (!driver_->with_stack()) {
    throw std::invalid_argument("export_stacks() requires with_stack=True");
  }
  Status written = write_exported_stacks(driver_->results().traces(), path, metric, true);
  if (written.code() == StatusCode::invalid_argument) refuse(written);
  return written;
}

Status Profiler::export_memory_timeline(const std::string& path, std::string_view device) {
  return driver_->export_memory_timeline(path, device);
}

Status Profiler::wait_for_exports() { return driver_->results().wait_for_exports(); }

void Profiler::export_in_background(const std::string& directory,
                                    const TensorboardOptions& options) {
  driver_->results().export_in_background(directory, options);
}

std::function<void(Profiler&)> tensorboard_trace_handler(std::string directory,
                                                         TensorboardOptions options) {
  return [directory = std::move(directory), options = std::move(options)](Profiler& profiler) {
    profiler.export_in_background(directory, options);
  };
}

}  // namespace tbtrace
