#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/profiler.h>
#include <tbtrace/report.h>
#include <tbtrace/views.h>

#include "base/forks.h"
#include "libtorch/profile/cycle_driver.h"
#include "libtorch/profile/distributed_info.h"
#include "libtorch/profile/results.h"
#include "live/recorded_window.h"
#include "recorder/process/call_gate.h"
#include "recorder/process/end_signals.h"
#include "recorder/process/process.h"
#include "recorder/process/running_profilers.h"
#include "recorder/process/terminate.h"
#include "wire/json_text.h"

namespace tbtrace {
namespace {

/// A failure with the path of the file that it is about.
Status of_file(const std::string& path, const Status& status) {
  return status.ok() ? status : Status(status.code(), path + ": " + status.message());
}

}  // namespace

/// Which calls do something, and when. All rules are here:
/// - One call at a time; other threads wait, except for step_num(). Calls from callbacks are nested
/// in the call that made
///   the callback.
/// - start() does something in a profiler that is not running, step() and stop() in one that is;
///   otherwise they only warn. Nested, stop() takes place when the outer call is done, or before it
///   begins another window; start() and step() only warn.
/// - The end of the program stops a profiler that is running, if no call is under way.
/// - In a forked child it is as new: not running, without results, models and metadata.
class Profiler::State final : public recorder::ProcessListener {
 public:
  State(Profiler& profiler, ProfilerOptions options)
      : profiler_(profiler), options_(with_times_in_range(std::move(options))) {
    begin_in_this_process();
    watch_for_ends();
    recorder::add_listener(*this);
  }

  /// Leaves the list when all is written: until then the end of the program waits for it.
  ~State() override {
    stop_without_exceptions();
    if (!is_inherited()) write_the_rest();
    recorder::remove_listener(*this);
    if (is_inherited()) static_cast<void>(driver_.release());
  }

  /// While it lives, the calling thread is the only one that uses the profiler.
  class Call {
   public:
    explicit Call(State& state) : state_(state), pass_(state.gate_.enter()) {
      if (state.is_inherited()) state.begin_in_this_process();
    }
    bool is_nested() const { return pass_.is_nested(); }
    libtorch::CycleDriver* operator->() const { return state_.driver_.get(); }

   private:
    State& state_;
    recorder::CallGate::Pass pass_;
  };

  void start() {
    const Call call(*this);
    if (call->cycle().running()) {
      call->warn("start() did nothing, since the profiler is running; call stop() first");
    } else if (call.is_nested()) {
      call->warn("start() did nothing, since it was called from a callback of the profiler");
    } else {
      watch_for_ends();
      was_closed_for_an_end_ = false;
      run(call, &libtorch::CycleDriver::begin);
    }
  }

  void step() {
    const Call call(*this);
    if (!call->cycle().running()) {
      // The program's loop may go on for a while after a signal that closes the window.
      if (!was_closed_for_an_end_) {
        call->warn("step() did nothing, since the profiler is not running; call start() first");
      }
    } else if (call.is_nested()) {
      call->warn("step() did nothing, since it was called from a callback of the profiler");
    } else {
      run(call, &libtorch::CycleDriver::next_step);
    }
  }

  void stop() {
    const Call call(*this);
    if (!call->cycle().running()) {
      if (!was_closed_for_an_end_) {
        call->warn("stop() did nothing, since the profiler is not running");
      }
    } else if (call.is_nested()) {
      stop_is_due_ = true;
      call->cycle().stop_after_window();
    } else {
      run(call, &libtorch::CycleDriver::finish);
    }
  }

  void snapshot() {
    const Call call(*this);
    if (!call->cycle().running()) {
      call->warn("snapshot() did nothing, since the profiler is not running; call start() first");
    } else {
      call->take_snapshot();
    }
  }

  void stop_without_exceptions() noexcept {
    if (is_inherited()) return;
    const Call call(*this);
    if (call.is_nested() || !call->cycle().running()) return;
    finish_without_exceptions();
  }

  Status wait_for_exports() {
    libtorch::Results* results = nullptr;
    {
      const Call call(*this);
      results = &call->results();
    }
    return results->wait_for_exports();  // others may use the profiler meanwhile
  }

  const ProfilerOptions& options() const { return options_; }

  /// Waits for no other call.
  std::int64_t step_num() const { return is_inherited() ? 0 : driver_->cycle().step_num(); }

  // Of the process's end.

  void close(recorder::Deadline deadline) noexcept override {
    if (is_inherited()) return;
    stop_until(deadline);
    if (is_inherited()) return;  // a callback forked, and this is the child
    try {
      // Not from within: what exports warn of may call the profiler.
      if (driver_->results().wait_until(deadline)) driver_->end_journal();
    } catch (...) {
      // The listener threw.
    }
  }

  void begin_anew() noexcept override { gate_.begin_anew(); }

 private:
  bool is_inherited() const { return process_.load() != fork_count(); }

  /// So long that nobody waits for the end of it, and short enough to be added to the time of day.
  static ProfilerOptions with_times_in_range(ProfilerOptions options) {
    constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);
    for (std::chrono::milliseconds* time :
         {&options.process.exit_timeout, &options.cupti.patience}) {
      *time = std::clamp(*time, std::chrono::milliseconds(0), kLongest);
    }
    return options;
  }

  void watch_for_ends() {
    const ProcessOptions& process = options_.process;
    const Status status = recorder::close_on_signals(process.close_on, process.exit_timeout);
    if (status.code() == StatusCode::invalid_argument) {
      throw std::invalid_argument(status.message());
    }
    if (!status.ok()) driver_->warn(status.message());
    if (process.close_on_terminate) recorder::close_on_terminate(process.exit_timeout);
  }

  void stop_until(recorder::Deadline deadline) noexcept {
    using Clock = recorder::CallGate::Clock;
    const auto pass =
        gate_.enter_until(deadline.value_or(Clock::now() + options_.process.exit_timeout));
    if (!pass) {
      warn_anyway(
          "a window may be lost, since the program ends while a call of the profiler goes on");
      return;
    }
    if (!pass->is_nested() && driver_->cycle().running()) {
      was_closed_for_an_end_ = true;
      finish_without_exceptions(&libtorch::CycleDriver::finish_within_step);
    }
    if (is_inherited()) return;
    try {
      driver_->results().finish_summaries();
    } catch (...) {
      // The listener threw.
    }
  }

  /// For the profiler's own end. close() may be called meanwhile.
  void write_the_rest() noexcept {
    try {
      {
        const auto pass = gate_.enter();
        driver_->results().finish_summaries();
      }
      driver_->results().wait_until(std::nullopt);  // not within, as in close()
      if (is_inherited()) return;
      const auto pass = gate_.enter();
      driver_->results().clear();  // so that the journal need not keep what they are made of
    } catch (...) {
      // The listener threw.
    }
    try {
      if (!is_inherited()) driver_->end_journal();
    } catch (...) {
      // Likewise.
    }
  }

  /// A parent's driver is left alone: what it has may be locked, and its files are the parent's.
  void begin_in_this_process() {
    auto driver = std::make_unique<libtorch::CycleDriver>(profiler_, options_);
    static_cast<void>(driver_.release());
    driver_ = std::move(driver);
    stop_is_due_ = false;
    process_.store(fork_count());
  }

  void run(const Call& call, void (libtorch::CycleDriver::*function)()) {
    std::exception_ptr thrown;
    try {
      (*call.operator->().*function)();
    } catch (const libtorch::ReturnedInChild&) {
      return;
    } catch (...) {
      thrown = std::current_exception();
    }
    if (std::exchange(stop_is_due_, false) && call->cycle().running()) {
      try {
        call->finish();
      } catch (const libtorch::ReturnedInChild&) {
        return;
      }
    }
    if (thrown != nullptr) std::rethrow_exception(thrown);
  }

  void finish_without_exceptions(
      void (libtorch::CycleDriver::*finish)() = &libtorch::CycleDriver::finish) noexcept {
    try {
      ((*driver_).*finish)();
    } catch (const libtorch::ReturnedInChild&) {
      // The child's profiler is not running.
    } catch (const std::exception& error) {
      warn_anyway(std::string("stopping the profiler failed: ") + error.what());
    } catch (...) {
      warn_anyway(
          "stopping the profiler failed: an exception was thrown that is not a std::exception");
    }
  }

  /// What listens may throw, but not here.
  void warn_anyway(std::string_view sentence) noexcept {
    try {
      driver_->warn(sentence);
    } catch (...) {
    }
  }

  Profiler& profiler_;
  const ProfilerOptions options_;
  recorder::CallGate gate_;
  std::atomic<std::uint64_t> process_ = 0;  // that the driver is of, by its number of forks
  bool stop_is_due_ = false;                // a callback asked for it
  bool was_closed_for_an_end_ = false;      // of the program: by a signal, or an exception
  std::unique_ptr<libtorch::CycleDriver> driver_;
};

Profiler::Profiler(ProfilerOptions options)
    : state_(std::make_unique<State>(*this, std::move(options))) {}

Profiler::~Profiler() = default;

void Profiler::end() noexcept { state_->stop_without_exceptions(); }

void Profiler::start() { state_->start(); }
void Profiler::step() { state_->step(); }
void Profiler::stop() { state_->stop(); }

std::int64_t Profiler::step_num() const { return state_->step_num(); }

void Profiler::snapshot() { state_->snapshot(); }

void Profiler::attach(const torch::nn::Module& model, const std::string& name) {
  State::Call(*state_)->attach(model, name);
}

void Profiler::attach(const torch::jit::Module& model, const std::string& name) {
  State::Call(*state_)->attach(model, name);
}

void Profiler::toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities) {
  State::Call(*state_)->toggle(enable, activities);
}

void Profiler::add_metadata(const std::string& key, std::string_view value) {
  std::string json;
  wire::append_json_string(json, value);
  State::Call(*state_)->add_metadata(key, std::move(json));
}

void Profiler::add_metadata_json(const std::string& key, std::string_view json) {
  State::Call(*state_)->add_metadata(key, std::string(json));
}

void Profiler::set_distributed_info(const DistributedInfo& info) {
  State::Call(*state_)->set_distributed_info(libtorch::distributed_info_json(info));
}

OperatorSummary Profiler::key_averages(const SummaryOptions& options) {
  const State::Call call(*state_);
  return *operator_summary(call->results().traces(), options, SameProcess::known);
}

EventList Profiler::events() {
  const State::Call call(*state_);
  return *tbtrace::events(call->results().traces(), SameProcess::known);
}

std::shared_ptr<const Trace> Profiler::trace() {
  const State::Call call(*state_);
  return call->results().last_trace();
}

Status Profiler::export_chrome_trace(const std::string& path) {
  const State::Call call(*state_);
  const auto recording = call->results().last();
  if (!recording.ok()) return recording.status();
  const Status written = live::write_recording(*recording, path, Dialect::kineto, true);
  if (written.ok()) (*recording)->forget_journal();
  return of_file(path, written);
}

Status Profiler::export_stacks(const std::string& path, std::string_view metric) {
  if (!state_->options().with_stack) {
    return {StatusCode::invalid_argument, "export_stacks() requires with_stack = true"};
  }
  const State::Call call(*state_);
  const Status written =
      write_exported_stacks(call->results().traces(), path, metric, true, SameProcess::known);
  return written.code() == StatusCode::invalid_argument ? written : of_file(path, written);
}

Status Profiler::export_report(const std::string& path) {
  const State::Call call(*state_);
  const auto recording = call->results().last();
  if (!recording.ok()) return recording.status();
  ReportPage page;
  const std::shared_ptr<const Trace> trace = call->results().last_trace();
  if (trace == nullptr)
    return of_file(
        path, {StatusCode::unreadable_input, "the recording cannot be read; a warning says why"});
  if (Status added = page.add(*trace, path); !added.ok()) return of_file(path, added);
  const Result<std::string> html = page.html();
  return of_file(path, html.ok() ? write_text(*html, path, true) : html.status());
}

Status Profiler::export_memory_timeline(const std::string& path, std::string_view device) {
  const Status written = State::Call(*state_)->export_memory_timeline(path, device);
  return written.code() == StatusCode::invalid_argument ? written : of_file(path, written);
}

Status Profiler::wait_for_exports() { return state_->wait_for_exports(); }

void Profiler::export_in_background(const std::string& directory,
                                    const TensorboardOptions& options) {
  State::Call(*state_)->results().export_in_background(directory, options);
}

std::function<void(Profiler&)> tensorboard_trace_handler(std::string directory,
                                                         TensorboardOptions options) {
  return libtorch::TensorboardHandler{std::move(directory), std::move(options)};
}

}  // namespace tbtrace
