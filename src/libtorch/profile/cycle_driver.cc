#include "libtorch/profile/cycle_driver.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>

#include <tbtrace/report.h>

#include "base/forks.h"
#include "libtorch/profile/distributed_info.h"
#include "libtorch/record/device_memory_watch.h"
#include "libtorch/record/input_encoding.h"
#include "libtorch/record/memory_watch.h"
#include "libtorch/record/observer_handles.h"
#include "libtorch/record/operator_names.h"
#include "libtorch/record/torch_schemas.h"
#include "libtorch/record/unwind.h"
#include "recorder/log/active.h"
#include "recorder/log/chunk.h"
#include "recorder/memory/timeline.h"
#include "recorder/process/messages.h"
#include "recorder/process/process.h"
#include "recorder/schedule/on_signal.h"
#include "recorder/window/empty_window.h"
#include "trace/step_names.h"
#include "writers/memory/timeline_formats.h"

namespace tbtrace::libtorch {

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

void throw_in_child(std::uint64_t before) {
  if (before != fork_count()) throw ReturnedInChild();
}

/// A schedule may fork, too.
Schedule parents_schedule(const Schedule& schedule) {
  if (!schedule) return {};
  return [&schedule](std::int64_t step) {
    const std::uint64_t before = fork_count();
    const ProfilerAction action = schedule(step);
    throw_in_child(before);
    return action;
  };
}

bool is_flight_recorder(const ProfilerOptions& options) {
  const JournalOptions& journal = options.journal;
  return journal.keep_seconds > 0 || journal.keep_bytes > 0;
}

void check_flight(const ProfilerOptions& options) {
  const JournalOptions& journal = options.journal;
  const auto need = [](bool condition, const char* sentence) {
    if (!condition) throw std::invalid_argument(sentence);
  };
  need(journal.keep_seconds >= 0 && journal.keep_seconds < 1e9,
       "journal.keep_seconds must be a time in seconds");
  constexpr std::size_t kLeastBytes = std::size_t{32}
                                      << 20;  // what it has ready, and as much again
  need(journal.max_bytes == 0 || journal.max_bytes >= kLeastBytes,
       "journal.max_bytes must be at least 32 MiB, or 0");
  need(journal.on_slow_step == 0 || journal.on_slow_step > 1,
       "journal.on_slow_step must be larger than 1: it is a number of times the median step");
  const bool is_flight = is_flight_recorder(options);
  need(is_flight || (journal.on_slow_step == 0 && journal.snapshot_on == 0),
       "journal.on_slow_step and snapshot_on need keep_seconds or keep_bytes, which say how much a "
       "snapshot has");
  need(!is_flight || !options.schedule,
       "journal.keep_seconds and keep_bytes record all steps, so they do not go with a schedule");
}

/// A flight recorder records all steps, and marks them.
Schedule schedule_of(const ProfilerOptions& options) {
  if (is_flight_recorder(options)) {
    return [](std::int64_t /*step*/) { return ProfilerAction::record; };
  }
  return parents_schedule(options.schedule);
}

/// `cpu`, `cuda:N`, and `cuda` for the first one.
Result<recorder::MemoryDevice> memory_device(std::string_view name) {
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
  return Status(StatusCode::invalid_argument,
                "the memory timeline of device '" + std::string(name) +
                    "' was asked for; devices are 'cpu', 'cuda' and 'cuda:N'");
}

constexpr const char* kDroppedWindows = "tbtrace_dropped_windows";
constexpr std::size_t kReservedChunks = 8;  // 2 MiB: a short window of a few threads

/// The profiler whose warning this thread is handing over.
thread_local constinit const CycleDriver* warns = nullptr;

}  // namespace

CycleDriver::CycleDriver(Profiler& profiler, const ProfilerOptions& options)
    : profiler_(profiler),
      options_(options),
      cycle_(schedule_of(options_), options_.acc_events, *this),
      distributed_info_(distributed_info_of_environment()),
      results_([this](std::string_view sentence) { warn(sentence); },
               options_.process.export_queue_bytes) {
  check_activities(options_.activities);
  check_flight(options_);
  if (is_flight_recorder(options_)) {
    flight_.emplace(recorder::FlightOptions{.keep_seconds = options_.journal.keep_seconds,
                                            .keep_bytes = options_.journal.keep_bytes,
                                            .on_slow_step = options_.journal.on_slow_step});
    if (const int signal = options_.journal.snapshot_on; signal != 0) {
      recorder::count_requests(signal);
      snapshots_seen_ = recorder::requests(signal);
    }
  }
  refuse(cycle_.made());
  gpu_.emplace(options_.experimental, options_.cupti, has(Activity::cuda),
               !options_.activities.empty(), [this](std::string_view sentence) { warn(sentence); });
}

void CycleDriver::end_journal() {
  if (journal_ == nullptr) return;
  journal_->end();
  if (journal_->has_kept() && !told_of_kept_.exchange(true)) {
    warn("windows that could not be written are kept in " + journal_->path().string() +
         "; 'tbtrace recover' writes them from there");
  }
}

// What the profiler's functions do.

void CycleDriver::begin() {
  in_cycle([this] { report(cycle_.start()); });
}

void CycleDriver::next_step() {
  in_cycle([this] { report(cycle_.step()); });
}

void CycleDriver::finish() {
  in_cycle([this] { stop_cycle(); });
}

void CycleDriver::finish_within_step() {
  step_stays_open_ = true;
  try {
    finish();
  } catch (...) {
    step_stays_open_ = false;
    throw;
  }
  step_stays_open_ = false;
  step_range_.reset();
}

void CycleDriver::in_cycle(const std::function<void()>& call) {
  in_cycle_.store(std::this_thread::get_id());
  try {
    call();
  } catch (...) {
    in_cycle_.store({});
    is_finishing_ = false;
    thrown_ = nullptr;
    throw;
  }
  in_cycle_.store({});
  if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void CycleDriver::stop_cycle() {
  is_finishing_ = true;
  const Status stopped = cycle_.stop();
  is_finishing_ = false;
  report(stopped);
  const bool was_asked =
      cycle_.action() != ProfilerAction::none || !recorder::waits_for_signal(options_.schedule);
  if (!cycle_.handed_over() && options_.schedule && was_asked) {
    warn("the profiler was stopped in step " + std::to_string(cycle_.step_num()) + " (" +
         action_name(cycle_.action()) +
         ") before its schedule had recorded a whole cycle, so nothing was handed over; call "
         "step() after each step of the loop, or look at the schedule with explain()");
  }
}

void CycleDriver::report(const Status& status) {
  if (status.ok()) return;
  if (status.code() == StatusCode::invalid_argument) refuse(status);
  warn(status.message());
}

void CycleDriver::toggle(bool enable, const std::vector<Activity>& activities) {
  for (const Activity activity : activities) {
    if (!has(activity)) {
      warn(std::string(activity == Activity::cpu ? "CPU" : "CUDA") +
           " activity cannot be toggled, since it is not among the activities");
    } else if (recording_ == nullptr || !slot_) {
      warn("collection can only be toggled while a cycle is recorded");
    } else if (activity == Activity::cuda) {
      gpu_->toggle(enable);
    } else {
      toggle_cpu(enable);
    }
  }
}

void CycleDriver::toggle_cpu(bool enable) {
  const bool is_recorded = options_.all_threads || begun_by_ == std::this_thread::get_id();
  if (!is_recorded) {
    warn("collection can only be toggled by the thread that is recorded, or with all_threads");
  } else if (enable && !observer_) {
    observe();
  } else if (!enable && observer_) {
    ignore();
    may_be_empty_ = true;
  }
}

void CycleDriver::add_metadata(const std::string& key, std::string json) {
  recorder::Recording* const recording = recording_ != nullptr ? recording_.get() : prepared_.get();
  if (recording != nullptr) {
    keep(*recording, key, std::move(json));
  } else {
    metadata_[key] = std::move(json);
  }
}

void CycleDriver::set_distributed_info(std::string json) {
  distributed_info_ = std::move(json);
  for (const auto& recording : {prepared_, recording_}) {
    if (recording != nullptr) keep(*recording, kDistributedInfo, distributed_info_);
  }
}

Status CycleDriver::export_memory_timeline(const std::string& path, std::string_view device) {
  std::string missing;
  for (const auto& [name, is_on] : {std::pair("record_shapes", options_.record_shapes),
                                    std::pair("profile_memory", options_.profile_memory),
                                    std::pair("with_stack", options_.with_stack)}) {
    if (is_on) continue;
    if (!missing.empty()) missing += ", ";
    missing += std::string(name) + " = true";
  }
  if (!missing.empty()) {
    return {StatusCode::invalid_argument, "export_memory_timeline() requires " + missing};
  }
  const Result<recorder::MemoryDevice> of = memory_device(device);
  if (!of.ok()) return of.status();
  const auto recording = results_.last();
  if (!recording.ok()) return recording.status();
  recorder::OperatorSchemas schemas(schemas_of);
  return writers::write_memory_timeline(
      recorder::memory_timeline(recorder::Window(*recording), schemas, *of), device, path);
}

// What the cycle asks for.

void CycleDriver::prepare() {
  try {
    try_to_prepare();
    gpu_->prepare(*prepared_);
  } catch (const std::bad_alloc&) {
    prepared_ = nullptr;  // start() tries again, and tells
  }
}

/// None without a journal, or where there cannot be one.
std::shared_ptr<recorder::WindowJournal> CycleDriver::new_window() {
  const JournalOptions& asked = options_.journal;
  if (!asked.directory.empty() && !std::exchange(tried_journal_, true)) {
    results_.recover(asked.directory, options_.on_trace_ready);
    auto journal = recorder::journal::Journal::open(
        asked.directory, {.slots = {.most_bytes = asked.max_bytes},
                          .sync = asked.sync,
                          .warn = [this](std::string_view sentence) { warn(sentence); }});
    if (journal.ok()) {
      journal_ = *std::move(journal);
    } else {
      warn("windows are kept in memory only, since there is no journal: " +
           journal.status().message());
    }
  }
  return journal_ == nullptr ? nullptr : journal_->new_window();
}

void CycleDriver::try_to_prepare() {
  load_operator_names();
  if (options_.with_stack && !can_unwind()) {
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
                                 .element_types = element_type_names(),
                                 .element_bytes = element_type_bytes(),
                                 .modules = models_.map()},
      new_window());
  if (!distributed_info_.empty()) keep(*prepared_, kDistributedInfo, distributed_info_);
  for (const auto& [key, json] : metadata_) keep(*prepared_, key, json);
}

void CycleDriver::start() {
  try {
    try_to_start();
  } catch (const std::bad_alloc&) {
    warn("there was not enough memory to record everything; record less, or free memory before");
  }
}

void CycleDriver::try_to_start() {
  if (prepared_ == nullptr) {
    warn(
        "recording starts without a warm-up, since the schedule went from RECORD to WARMUP; it is "
        "prepared now");
    try_to_prepare();
    gpu_->prepare(*prepared_);
  }
  recording_ = std::exchange(prepared_, nullptr);
  may_be_empty_ = is_finishing_;
  begun_by_ = std::this_thread::get_id();
  if (const std::string_view reason = recorder::why_nothing_is_recorded(); !reason.empty()) {
    if (!is_finishing_) warn(reason);
  } else {
    remove_left_callbacks();
    slot_ = recorder::activate(recording_, options_.all_threads ? recorder::Reach::all_threads
                                                                : recorder::Reach::some_threads);
    if (!slot_) {
      warn("nothing is recorded: " + std::to_string(recorder::kSlotsOfReach) +
           " profilers record already, or their windows were stopped by threads that did not start "
           "them; stop a profiler, start a window on a thread whose last window another thread "
           "stopped, or stop windows on the threads that start them");
    }
  }
  recording_->start();
  if (flight_) flight_->begin_window(recorder::FlightRecorder::Clock::now());
  add_known_tensors();
  if (slot_) gpu_->start(*recording_);
  if (slot_ && (has(Activity::cpu) || options_.profile_memory)) observe();
}

void CycleDriver::stop() {
  if (recording_ == nullptr) {
    warn("nothing was being recorded that could be stopped");
    make();
    return;
  }
  if (observer_) ignore();
  try {
    gpu_->stop(*recording_);
  } catch (const std::bad_alloc&) {
    warn("there was not enough memory for what GPUs did");
  }
  keep_lost_windows();
  if (slot_) recorder::deactivate(*slot_);
  add_known_tensors();
  recording_->close();
  tell_of_lost(*recording_);
  const bool lacks_rows = slot_ && has(Activity::cpu) && !options_.all_threads && !may_be_empty_ &&
                          recorder::has_only_steps(*recording_);
  slot_.reset();
  keep_ended(std::exchange(recording_, nullptr), lacks_rows);
}

void CycleDriver::drop() {
  is_dropping_ = true;
  stop();
}

/// Threads go on recording all the while. What devices do between the two windows is in none.
void CycleDriver::renew() {
  bool is_done = false;
  try {
    is_done = slot_ && try_to_renew();
  } catch (const std::bad_alloc&) {
    prepared_ = nullptr;
  }
  if (is_done) return;
  stop();
  prepare();
  start();
}

/// False, or an exception: nothing has changed.
bool CycleDriver::try_to_renew() {
  if (recording_ == nullptr) return false;
  try_to_prepare();
  try {
    gpu_->stop(*recording_);
  } catch (const std::bad_alloc&) {
    warn("there was not enough memory for what GPUs did");
  }
  gpu_->prepare(*prepared_);
  keep_lost_windows();
  add_known_tensors();
  const bool has_memory = observer_ && options_.profile_memory;
  if (has_memory) end_device_memory();
  recorder::replace(*slot_, prepared_);
  const auto ended = std::exchange(recording_, std::exchange(prepared_, nullptr));
  if (has_memory) begin_device_memory();
  flight_->begin_window(recorder::FlightRecorder::Clock::now());
  add_known_tensors();
  gpu_->start(*recording_);
  if (!observer_ && (has(Activity::cpu) || options_.profile_memory)) observe();
  may_be_empty_ = false;
  tell_of_lost(*ended);
  keep_ended(ended, false);
  return true;
}

/// What the file of the window that ends says of those before it.
void CycleDriver::keep_lost_windows() {
  if (const std::uint64_t lost = results_.lost_windows(); lost > 0) {
    keep(*recording_, kDroppedWindows, std::to_string(lost));
  }
}

void CycleDriver::tell_of_lost(const recorder::Recording& recording) {
  if (const std::uint64_t lost = recording.lost(); lost > 0) {
    warn(std::to_string(lost) +
         " records were lost, since memory or the journal was full; if it was the journal, set its "
         "`max_bytes` higher");
  }
}

void CycleDriver::keep_ended(std::shared_ptr<recorder::Recording> ended, bool lacks_rows) {
  if (std::exchange(is_dropping_, false)) return;
  if (std::exchange(is_renewing_, false)) {
    before_ = std::move(ended);
  } else {
    results_.add(std::move(ended), lacks_rows);
  }
}

recorder::WindowAfterStep CycleDriver::after_step() {
  using recorder::WindowAfterStep;
  if (!flight_ || recording_ == nullptr) return WindowAfterStep::goes_on;
  bool is_asked = std::exchange(snapshot_is_due_, false);
  if (const int signal = options_.journal.snapshot_on; signal != 0) {
    const std::uint32_t now = recorder::requests(signal);
    is_asked = std::exchange(snapshots_seen_, now) != now || is_asked;
  }
  const WindowAfterStep after =
      flight_->end_step(recorder::FlightRecorder::Clock::now(), recording_->bytes(), is_asked);
  is_renewing_ = after == WindowAfterStep::renewed;
  if (after == WindowAfterStep::handed_over) {
    keep(*recording_, "tbtrace_snapshot", flight_->reason());
    results_.clear();  // what an earlier snapshot handed over
  }
  return after;
}

void CycleDriver::take_snapshot() {
  if (!flight_) {
    warn(
        "snapshot() did nothing, since the profiler is not a flight recorder; set "
        "journal.keep_seconds or journal.keep_bytes");
  } else {
    snapshot_is_due_ = true;
  }
}

void CycleDriver::ready(std::int64_t) {
  if (before_ != nullptr) {
    Results::Recording last = results_.take_last();
    results_.add(std::exchange(before_, nullptr), false);
    hand_over();
    results_.clear();
    results_.add(std::move(last), false);
  }
  hand_over();
}

void CycleDriver::hand_over() {
  if (!options_.on_trace_ready) return;
  const std::uint64_t before = fork_count();
  try {
    options_.on_trace_ready(profiler_);
  } catch (...) {
    throw_in_child(before);
    thrown_ = std::current_exception();
  }
  throw_in_child(before);
}

void CycleDriver::open_step(std::int64_t step) { step_range_.emplace(step_name(step)); }

void CycleDriver::warn(std::string_view sentence) {
  // Not to a listener whose own calls are warned of.
  if (!options_.experimental.on_warning || warns == this) {
    recorder::warn(sentence);
    return;
  }
  const std::uint64_t before = fork_count();
  const CycleDriver* const outer = std::exchange(warns, this);
  try {
    options_.experimental.on_warning(sentence);
  } catch (...) {
    warns = outer;
    throw_in_child(before);
    keep_thrown();
  }
  warns = outer;
  throw_in_child(before);
}

/// What is thrown within a cycle's call must not keep the recording from being ended. Exports warn
/// on a thread of their own, and what is thrown there is not the cycle's.
void CycleDriver::keep_thrown() {
  if (in_cycle_.load() != std::this_thread::get_id()) throw;
  if (thrown_ == nullptr) thrown_ = std::current_exception();
}

void CycleDriver::add_known_tensors() {
  if (!recording_->options().has_storages()) return;
  recording_->add_known_tensors(models_.known_tensors());
}

bool CycleDriver::has(Activity activity) const {
  return options_.activities.empty() ||
         std::count(options_.activities.begin(), options_.activities.end(), activity) > 0;
}

void CycleDriver::keep(recorder::Recording& recording, const std::string& key, std::string json) {
  const Status kept = recording.add_metadata(key, std::move(json));
  if (!kept.ok()) warn(kept.message());
}

void CycleDriver::observe() {
  const recorder::RecordingOptions& options = recording_->options();
  const bool has_models = options.modules != nullptr;
  observer_ = add_observer(*slot_, {.ranges = has(Activity::cpu),
                                    .inputs = options.wants_inputs() || has_models,
                                    .context = options.wants_modules(),
                                    .check_launches = options_.experimental.check_launches,
                                    .all_threads = options_.all_threads});
  if (!options_.profile_memory) return;
  watch_memory(*slot_, *observer_, options_.all_threads);
  begin_device_memory();
}

void CycleDriver::begin_device_memory() {
  warn_once(watch_device_memory(*slot_, *observer_, options_.all_threads,
                                recording_->device_memory_journal())
                .message());
}

void CycleDriver::end_device_memory() {
  recorder::DeviceMemory memory = stop_watching_device_memory(*slot_);
  warn_once(memory.problem);
  recording_->add_device_memory(std::move(memory));
}

void CycleDriver::ignore() {
  if (options_.profile_memory) {
    stop_watching_memory(*slot_);
    end_device_memory();
  }
  remove_observer(*observer_);
  observer_.reset();
}

void CycleDriver::warn_once(const std::string& sentence) {
  if (sentence.empty() || sentence == warned_of_memory_) return;
  warned_of_memory_ = sentence;
  warn(sentence);
}

}  // namespace tbtrace::libtorch
