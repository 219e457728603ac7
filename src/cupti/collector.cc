#include "cupti/collector.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "base/forks.h"
#include "recorder/log/ticks.h"

namespace tbtrace::cupti {

namespace {

using recorder::DeviceTrace;

constexpr std::chrono::milliseconds kLook{10};  // for buffers that are missing

constexpr std::size_t kKeptBuffers = 128;  // while nothing is recorded

constexpr const char* kForked =
    "GPUs cannot be recorded in a process that was forked from one that recorded them; call exec() "
    "in the child";
constexpr const char* kEnding = "the program is ending";

recorder::PendingDeviceTrace ready(DeviceTrace trace) {
  std::promise<std::shared_ptr<const DeviceTrace>> promise;
  promise.set_value(std::make_shared<const DeviceTrace>(std::move(trace)));
  return promise.get_future().share();
}

/// Whether the API call of at least one kernel, memcpy or memset is there; true without any.
bool has_linked_activity(const DeviceTrace& trace) {
  const std::size_t activities = trace.activities.size();
  // Nearly always the first that is looked at has its call.
  constexpr std::size_t kMostSamples = 4;
  const std::size_t samples = std::min(activities, kMostSamples);
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const std::uint32_t correlation = trace.activities.correlation(activities * sample / samples);
    if (std::any_of(trace.calls.begin(), trace.calls.end(),
                    [&](const auto& call) { return call.correlation == correlation; })) {
      return true;
    }
  }
  if (samples == activities) return activities == 0;
  std::unordered_set<std::uint32_t> called;
  for (const recorder::ApiCall& call : trace.calls) called.insert(call.correlation);
  for (std::size_t row = 0; row < activities; ++row) {
    if (called.contains(trace.activities.correlation(row))) return true;
  }
  return false;
}

}  // namespace

Collector::Collector(CuptiLibrary cupti, DriverLibrary driver, CollectorSettings settings)
    : cupti_(std::move(cupti)),
      driver_(std::move(driver)),
      settings_(std::move(settings)),
      forks_(fork_count()),
      calls_(cupti_),
      stream_(cupti_, settings_.buffers,
              [this] {
                const std::lock_guard lock(mutex_);
                buffers_came_ = true;
                changed_.notify_one();
              }),
      tracing_(cupti_, driver_, calls_, stream_),
      detachment_(cupti_, [this] { detach_now(); }) {}

Collector::~Collector() {
  shut_down();
  if (fork_count() != forks_) return;
  const std::lock_guard control(control_);
  tracing_.stop();
}

void Collector::shut_down() {
  if (fork_count() != forks_) return;  // the thread is the parent's
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    thread = std::move(thread_);
    changed_.notify_one();
  }
  if (thread.joinable()) thread.join();
}

// Sessions.

Result<std::unique_ptr<Collector::Session>> Collector::begin(const SessionOptions& options) {
  if (fork_count() != forks_) return Status(StatusCode::check_failed, kForked);
  std::unique_ptr<Session> session(new Session(*this, options));
  const std::lock_guard control(control_);
  session->is_begun_ = false;
  detachment_.cancel();
  sessions_.reserve(sessions_.size() + 1);
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return Status(StatusCode::check_failed, kEnding);
    recording_.reserve(recording_.size() + 1);
  }
  Status status = tracing_.attach();
  if (status.ok()) status = tracing_.enable(wanted() | options.extras, session->shortcoming_);
  if (status.ok()) status = start_thread();
  if (!status.ok()) {
    if (sessions_.empty()) {
      tracing_.stop();
    } else {
      tracing_.keep(wanted());
    }
    return status;
  }
  sessions_.push_back(session.get());
  session->is_begun_ = true;
  apply_buffer_limit();
  const std::lock_guard lock(mutex_);
  if (!options.is_idle) recording_.push_back(session.get());
  changed_.notify_one();
  return session;
}

Status Collector::check() {
  if (fork_count() != forks_) return {StatusCode::check_failed, kForked};
  const std::lock_guard control(control_);
  return tracing_.check();
}

/// Requires control_. The thread ends only while control_ is held, so it lives on if it runs.
Status Collector::start_thread() {
  std::thread ended;
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return {StatusCode::check_failed, kEnding};
    if (is_running_) return {};
    ended = std::move(thread_);
  }
  if (ended.joinable()) ended.join();
  const std::lock_guard lock(mutex_);
  if (is_ending_) return {StatusCode::check_failed, kEnding};
  try {
    thread_ = settings_.start_thread ? settings_.start_thread([this] { run(); })
                                     : std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return {StatusCode::check_failed,
            std::string("the thread that collects the GPU's records cannot be started (") +
                error.what() +
                "); allow the process more threads (RLIMIT_NPROC, or pids.max of its container)"};
  }
  is_running_ = true;
  return {};
}

Extras Collector::wanted() const {
  Extras extras;
  for (const Session* session : sessions_) extras = extras | session->options_.extras;
  return extras;
}

void Collector::apply_buffer_limit() {
  std::size_t most = settings_.buffers.most_buffers;
  std::size_t chosen = 0;
  for (const Session* session : sessions_) {
    chosen = std::max(chosen, session->options_.most_buffer_bytes);
  }
  if (chosen > 0) most = std::max<std::size_t>(1, chosen / settings_.buffers.buffer_bytes);
  stream_.pool().set_most_buffers(most);
}

Collector::Session::~Session() {
  if (is_begun_) collector_.end(*this);
}

void Collector::Session::begin_window(std::shared_ptr<recorder::DeviceJournal> journal) {
  is_paused_ = false;
  if (journal != nullptr) {
    DeviceTrace known;
    collector_.describe(known);
    known.problem = shortcoming_;
    journal->begin(known);
  }
  window_ = std::make_shared<WindowActivity>(collector_.calls_, recorder::ticks(),
                                             options_.extras.all_calls, std::move(journal));
  collector_.stream_.open(window_);
}

void Collector::Session::pause_window() {
  if (is_paused_) return;
  if (options_.wait_for_device) collector_.driver_.synchronize();
  window_->pause();
  is_paused_ = true;
}

void Collector::Session::resume_window() {
  if (!is_paused_) return;
  if (options_.wait_for_device) collector_.driver_.synchronize();
  window_->resume();
  is_paused_ = false;
}

recorder::PendingDeviceTrace Collector::Session::end_window() {
  return collector_.end_window(*this);
}

void Collector::end(const Session& session) {
  if (fork_count() != forks_) return;
  if (session.window_ != nullptr) stream_.close(session.window_);
  const std::lock_guard control(control_);
  std::erase(sessions_, &session);
  if (session.options_.detach_at_end) detaches_ = true;
  if (!sessions_.empty()) apply_buffer_limit();
  const std::lock_guard lock(mutex_);
  std::erase(recording_, &session);
  session_ended_ = true;
  changed_.notify_one();
}

recorder::PendingDeviceTrace Collector::end_window(Session& session) {
  EndedWindow window;
  window.shortcoming = session.shortcoming_;
  window.rows = std::exchange(session.window_, nullptr);
  recorder::PendingDeviceTrace result = window.result.get_future().share();
  session.problem_ = window.problem.get_future().share();
  if (fork_count() != forks_) {
    window.problem.set_value(kForked);
    return ready({.problem = kForked});
  }
  const SessionOptions& options = session.options_;
  window.session = &session;
  if (options.wait_for_device) driver_.synchronize();
  window.rows->end(recorder::ticks());
  window.is_taken_over = tracing_.is_taken_over();
  window.buffers = stream_.pool().taken();
  window.give_up_at = Clock::now() + options.patience;
  cupti_.flush_all(0);
  if (hand_over(window)) return result;
  // The thread that decodes has ended with the program.
  stream_.drain();
  stream_.close(window.rows);
  const bool is_whole = stream_.pool().in_flight(0, window.buffers) == 0;
  finish(window, is_whole ? "" : "the program ended before CUPTI had returned all records");
  return result;
}

/// To the thread. False if it has ended, or there is no memory for that: the window is unchanged.
bool Collector::hand_over(EndedWindow& window) {
  const std::lock_guard lock(mutex_);
  if (is_ending_) return false;
  try {
    ended_.push_back(std::move(window));
  } catch (const std::bad_alloc&) {
    return false;
  }
  changed_.notify_one();
  return true;
}

// The collector's thread.

void Collector::run() {
  last_flush_ = Clock::now();
  for (;;) {
    const bool is_last = wait();
    try {
      stream_.drain();
      if (is_last || Clock::now() - last_flush_ >= settings_.flush_period) flush(0);
      const bool all_finished = finish_windows(is_last);
      if (is_last || (all_finished && may_rest_ && rest())) return;
    } catch (const std::exception&) {
      // No memory: records that it was for are lost and counted, everything else is tried again.
      if (!is_last) continue;
      const std::lock_guard lock(mutex_);
      for (EndedWindow& window : ended_) give_up(window);
      ended_.clear();
      return;
    }
  }
}

/// Returns when there is something to do: whether it is the last time.
bool Collector::wait() {
  std::unique_lock lock(mutex_);
  const auto until = ended_.empty() ? last_flush_ + settings_.flush_period : Clock::now() + kLook;
  const std::size_t ended = ended_.size();
  changed_.wait_until(lock, until, [&] {
    return buffers_came_ || session_ended_ || is_ending_ || ended_.size() != ended;
  });
  buffers_came_ = false;
  may_rest_ = may_rest_ || session_ended_;
  session_ended_ = false;
  return is_ending_;
}

/// Switches off what nobody wants any more. Whether nothing is left to do, so the thread ends.
bool Collector::rest() {
  const std::lock_guard control(control_);
  if (!sessions_.empty()) {
    tracing_.keep(wanted());
    may_rest_ = false;
    return false;
  }
  {
    // Without sessions, no window can be added from here on.
    const std::lock_guard lock(mutex_);
    if (!ended_.empty()) return false;
  }
  if (tracing_.is_on()) flush(0);
  tracing_.stop();
  // Buffers of a long or busy recording are not kept for the next one.
  stream_.pool().set_most_buffers(std::min(kKeptBuffers, settings_.buffers.most_buffers));
  stream_.pool().set_most_buffers(settings_.buffers.most_buffers);
  if (detaches_) {
    flush(kFlushForced);
    detachment_.request();
    detaches_ = false;
  }
  may_rest_ = false;
  const std::lock_guard lock(mutex_);
  is_running_ = false;
  return true;
}

/// At the exit of a CUDA call of the program.
void Collector::detach_now() {
  const std::unique_lock control(control_, std::try_to_lock);
  if (!control.owns_lock() || !detachment_.is_requested() || !sessions_.empty()) return;
  detachment_.finalize();
  tracing_.forget();
  stream_.pool().write_off(stream_.pool().taken());
}

void Collector::flush(std::uint32_t flag) {
  last_flush_ = Clock::now();
  static_cast<void>(cupti_.flush_all(flag));
  std::size_t dropped = 0;
  if (cupti_.dropped_records(nullptr, 0, &dropped) == results::kSuccess && dropped > 0) {
    stream_.count_lost(dropped);
  }
  stream_.drain();
}

/// Finishes the windows whose records are all there, and those that have waited long enough.
/// Whether no window is left.
bool Collector::finish_windows(bool is_last) {
  for (;;) {
    EndedWindow* first = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (ended_.empty()) return true;
      first = &ended_.front();  // stays there: others only add windows after it
    }
    EndedWindow& window = *first;
    flush(0);
    const auto missing = [&] { return stream_.pool().in_flight(given_up_, window.buffers); };
    std::string problem;
    if (window.is_taken_over) {
      problem =
          "another profiler in this process, such as torch's, began while this was recorded and "
          "has CUPTI's records since then; let only one record at a time";
      stream_.pool().write_off(window.buffers);
    } else if (missing() > 0) {
      if (!is_last && Clock::now() < window.give_up_at) return false;
      if (others_record(window)) {
        // A forced flush would take the times from their kernels that still run.
        if (const std::size_t buffers = missing(); buffers > 0) {
          problem = "CUPTI held back " + std::to_string(buffers) +
                    " buffers of records, since kernels in them still run; record while other "
                    "threads launch less, or have tbtrace wait longer for the end of a window";
        }
      } else {
        flush(kFlushForced);
        if (const std::size_t buffers = missing(); buffers > 0) {
          problem = "CUPTI did not give back " + std::to_string(buffers) +
                    " buffers of records, which another profiler in this process may have got; let "
                    "only one record at a time";
          stream_.pool().write_off(window.buffers);
        }
      }
      given_up_ = std::max(given_up_, window.buffers);
    }
    stream_.drain();  // what came back since the flush
    stream_.close(window.rows);
    finish(window, std::move(problem));
    const std::lock_guard lock(mutex_);
    ended_.pop_front();
  }
}

/// Whether records are collected for another session or window.
bool Collector::others_record(const EndedWindow& window) {
  if (stream_.open_windows() > 1) return true;
  const std::lock_guard lock(mutex_);
  return std::any_of(recording_.begin(), recording_.end(),
                     [&](const Session* session) { return session != window.session; });
}

void Collector::describe(DeviceTrace& trace) const {
  trace.devices = driver_.devices();
  trace.interface_version = cupti_.version;
  trace.driver_version = driver_.version();
  trace.runtime_version = runtime_version();
}

void Collector::finish(EndedWindow& window, std::string problem) {
  // Freed at the end, with the journal that it may be the last to keep, while nothing is locked.
  const std::shared_ptr<WindowActivity> rows = std::exchange(window.rows, nullptr);
  try {
    DeviceTrace trace = rows->take();
    describe(trace);
    if (problem.empty() && !has_linked_activity(trace)) {
      problem = "none of the " + std::to_string(trace.activities.size()) +
                " kernels, memcpys and memsets has its CUDA call, so they belong to no operator; "
                "if they were not launched before the recording, another profiler in this process "
                "has switched the calls off, or CUPTI and the driver do not fit together (update "
                "the driver)";
    }
    trace.problem = window.shortcoming;
    if (!problem.empty()) trace.problem += (trace.problem.empty() ? "" : "; ") + problem;
    // Before anybody may take the recording for finished.
    if (rows->journal() != nullptr) rows->journal()->end(trace);
    window.problem.set_value(std::move(problem));
    window.result.set_value(std::make_shared<const DeviceTrace>(std::move(trace)));
  } catch (...) {
    give_up(window);
  }
}

/// Whoever waits for the window gets the current exception. A promise that has neither a value nor
/// an exception allocates when it is destroyed, and without memory that ends the program.
void Collector::give_up(EndedWindow& window) noexcept {
  const auto fail = [why = std::current_exception()](auto& promise) {
    try {
      promise.set_exception(why);
    } catch (...) {
      // It has its value.
    }
  };
  fail(window.problem);
  fail(window.result);
}

}  // namespace tbtrace::cupti
