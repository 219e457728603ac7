#include "cupti/collector.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include <unistd.h>

#include "cupti/clock.h"
#include "cupti/refusal.h"
#include "recorder/ticks.h"

namespace tbtrace::cupti {

namespace {

using recorder::CallLibrary;
using recorder::DeviceActivity;

constexpr std::array<Kind, 3> kWorks = {Kind::kernel, Kind::copy, Kind::set};
constexpr std::array<Kind, 4> kExtras = {Kind::wait, Kind::overhead, Kind::marker, Kind::external};

constexpr std::chrono::milliseconds kLook{10};  // after buffers that are missing

constexpr const char* kForked =
    "GPUs cannot be recorded in a process that was forked from one that recorded them; begin "
    "there with exec()";

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::wait:
      return "synchronization events";
    case Kind::overhead:
      return "CUPTI's overhead";
    case Kind::marker:
      return "NVTX ranges";
    default:
      return "operators' ids";
  }
}

recorder::PendingDeviceActivity ready(DeviceActivity activity) {
  std::promise<std::shared_ptr<const DeviceActivity>> promise;
  promise.set_value(std::make_shared<const DeviceActivity>(std::move(activity)));
  return promise.get_future().share();
}

}  // namespace

Collector::Collector(CuptiLibrary cupti, DriverLibrary driver, CollectorSettings settings)
    : cupti_(std::move(cupti)),
      driver_(std::move(driver)),
      settings_(settings),
      process_(::getpid()),
      calls_(cupti_),
      stream_(cupti_, settings.buffers, [this] {
        const std::lock_guard lock(mutex_);
        buffers_came_ = true;
        changed_.notify_one();
      }) {}

Collector::~Collector() {
  shut_down();
  if (::getpid() != process_) return;
  const std::lock_guard control(control_);
  stop_unwanted();
}

void Collector::shut_down() {
  if (::getpid() != process_) return;  // the thread is the parent's
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

// Sessions.

Result<std::unique_ptr<Collector::Session>> Collector::begin(const SessionOptions& options) {
  if (::getpid() != process_) return Status(StatusCode::check_failed, kForked);
  std::unique_ptr<Session> session(new Session(*this, options));
  const std::lock_guard control(control_);
  if (Status status = set_up(); !status.ok()) return status;
  if (sessions_.empty() && !has_our_clock()) {
    if (Status status = set_clock(); !status.ok()) return status;
  }
  // At each beginning: another profiler may have put its callbacks into their place.
  if (const Answer answer = stream_.connect(); answer != answers::kDone) {
    return refused("cuptiActivityRegisterCallbacks", answer);
  }
  {
    const std::lock_guard lock(mutex_);
    if (is_ending_) return Status(StatusCode::check_failed, "the program is ending");
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  }
  sessions_.push_back(session.get());
  Status status = start_what_is_wanted(session->shortcoming_);
  if (status.ok()) return session;
  std::erase(sessions_, session.get());
  session->is_begun_ = false;
  stop_unwanted();
  return status;
}

Collector::Session::~Session() {
  if (is_begun_) collector_.end(*this);
}

void Collector::Session::begin_window() {
  window_ = std::make_shared<WindowRows>(collector_.calls_, recorder::ticks());
  collector_.stream_.open(window_);
}

recorder::PendingDeviceActivity Collector::Session::end_window() {
  return collector_.end_window(std::exchange(window_, nullptr), options_);
}

void Collector::end(const Session& session) {
  if (::getpid() != process_) return;
  {
    const std::lock_guard control(control_);
    std::erase(sessions_, &session);
  }
  if (session.window_ != nullptr) stream_.close(session.window_);
  const std::lock_guard lock(mutex_);
  session_ended_ = true;
  changed_.notify_one();
}

recorder::PendingDeviceActivity Collector::end_window(std::shared_ptr<WindowRows> window,
                                                      const SessionOptions& options) {
  if (::getpid() != process_) return ready({.problem = kForked});
  if (options.wait_for_device) driver_.synchronize();
  window->end(recorder::ticks());
  const std::uint64_t taken = stream_.pool().taken();
  cupti_.flush_all(0);
  Ending ending{.window = std::move(window), .buffers = taken, .since = Clock::now(), .result = {}};
  recorder::PendingDeviceActivity result = ending.result.get_future().share();
  const std::lock_guard lock(mutex_);
  if (is_ending_) {
    // The thread that decodes has ended with the program.
    stream_.close(ending.window);
    finish(ending, "the program ended before the GPU's records had come");
    return result;
  }
  endings_.push_back(std::move(ending));
  changed_.notify_one();
  return result;
}

// What CUPTI is told; control_ is held.

Status Collector::refused(const char* call, Answer answer) const {
  return {StatusCode::check_failed, refusal(cupti_, call, answer)};
}

Status Collector::set_up() {
  if (is_set_up_) return {};
  if (Status status = check_versions(cupti_, driver_); !status.ok()) return status;
  if (!stream_.understands({Kind::kernel, Kind::copy, Kind::set, Kind::runtime})) {
    return {StatusCode::check_failed,
            "the CUPTI in use (" + cupti_.path +
                ") writes records of another form than those of CUDA 11.6 and later; use a "
                "LibTorch built for a later CUDA"};
  }
  if (const Answer answer = cupti_.set_thread_id_type(kSystemThreadIds); answer != answers::kDone) {
    return refused("cuptiSetThreadIdType", answer);
  }
  // Both only save time, and CUPTI before CUDA 12.3 does not know the second.
  for (const int attribute : {kZeroedOutBuffers, kPerThreadBuffers}) {
    std::uint8_t on = 1;
    std::size_t size = sizeof on;
    static_cast<void>(cupti_.set_attribute(attribute, &size, &on));
  }
  clock_ns();  // measures the clock, now and not at the first record
  if (Status status = set_clock(); !status.ok()) return status;
  is_set_up_ = true;
  return {};
}

Status Collector::set_clock() {
  const Answer answer = cupti_.register_timestamp(clock_ns);
  if (answer == answers::kDone) return {};
  return refused("cuptiActivityRegisterTimestampCallback", answer);
}

/// Whether CUPTI's records are in our clock. Kineto sets its own each time that it begins.
bool Collector::has_our_clock() const {
  constexpr std::uint64_t kApart = 1'000'000'000;
  std::uint64_t theirs = 0;
  if (cupti_.get_timestamp == nullptr || cupti_.get_timestamp(&theirs) != answers::kDone) {
    return true;  // nobody knows
  }
  const std::uint64_t ours = clock_ns();
  return (theirs > ours ? theirs - ours : ours - theirs) < kApart;
}

bool Collector::is_wanted(Kind kind) const {
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const Session* session) {
    switch (kind) {
      case Kind::wait:
        return session->options_.waits;
      case Kind::overhead:
        return session->options_.overhead;
      case Kind::marker:
        return session->options_.markers;
      case Kind::external:
        return session->options_.operator_ids;
      default:
        return true;
    }
  });
}

Status Collector::start_what_is_wanted(std::string& shortcoming) {
  const auto start = [&](Kind kind) {
    if (std::count(on_.begin(), on_.end(), kind) > 0) return answers::kDone;
    const Answer answer = cupti_.enable(kind);
    if (answer == answers::kDone) on_.push_back(kind);
    return answer;
  };
  if (!calls_on_) {
    if (const Answer answer = set_calls(true); answer != answers::kDone) {
      set_calls(false);
      return refused("cuptiActivityEnable", answer);
    }
    calls_on_ = true;
  }
  for (const Kind kind : kWorks) {
    if (const Answer answer = start(kind); answer != answers::kDone) {
      return refused("cuptiActivityEnable", answer);
    }
  }
  for (const Kind kind : kExtras) {
    if (!is_wanted(kind)) continue;
    const Answer answer = stream_.understands({kind}) ? start(kind) : answers::kInvalidKind;
    if (answer == answers::kDone) continue;
    if (!shortcoming.empty()) shortcoming += "; ";
    shortcoming += std::string(name_of(kind)) +
                   " are not recorded: " + refusal(cupti_, "cuptiActivityEnable", answer);
  }
  return {};
}

void Collector::stop_unwanted() {
  if (sessions_.empty() && calls_on_) {
    set_calls(false);
    calls_on_ = false;
  }
  std::erase_if(on_, [&](Kind kind) {
    if (is_wanted(kind)) return false;
    static_cast<void>(cupti_.disable(kind));
    return true;
  });
}

/// Only the chosen calls where CUPTI can choose, all of them otherwise. The first failure.
Answer Collector::set_calls(bool on) {
  Answer first_failure = answers::kDone;
  const auto keep = [&](Answer answer) {
    if (first_failure == answers::kDone) first_failure = answer;
  };
  for (const CallLibrary library : {CallLibrary::runtime, CallLibrary::driver}) {
    const bool is_runtime = library == CallLibrary::runtime;
    auto* const choose = is_runtime ? cupti_.enable_runtime_call : cupti_.enable_driver_call;
    if (choose == nullptr) {
      const Kind kind = is_runtime ? Kind::runtime : Kind::driver;
      keep(on ? cupti_.enable(kind) : cupti_.disable(kind));
      continue;
    }
    const std::vector<std::string>& names = calls_.names(library);
    for (std::uint32_t number = 0; number < names.size(); ++number) {
      if (!names[number].empty()) keep(choose(number, on ? 1 : 0));
    }
  }
  return first_failure;
}

// The collector's thread.

void Collector::run() {
  last_flush_ = Clock::now();
  for (;;) {
    const bool is_last = wait();
    try {
      stream_.drain();
      if (is_last || Clock::now() - last_flush_ >= settings_.flush_period) flush(0);
      if (finish_windows(is_last)) {
        const std::lock_guard control(control_);
        stop_unwanted();
      }
    } catch (const std::exception&) {
      // No memory: what it was for is lost and counted, or tried again.
    }
    if (is_last) return;
  }
}

/// Until there is something to do. Whether it is the last time.
bool Collector::wait() {
  std::unique_lock lock(mutex_);
  const auto until = endings_.empty() ? last_flush_ + settings_.flush_period : Clock::now() + kLook;
  const std::size_t endings = endings_.size();
  changed_.wait_until(lock, until, [&] {
    return buffers_came_ || session_ended_ || is_ending_ || endings_.size() != endings;
  });
  buffers_came_ = false;
  session_ended_ = false;
  return is_ending_;
}

void Collector::flush(std::uint32_t flag) {
  last_flush_ = Clock::now();
  if (!is_set_up_) return;
  static_cast<void>(cupti_.flush_all(flag));
  std::size_t dropped = 0;
  if (cupti_.dropped_records(nullptr, 0, &dropped) == answers::kDone && dropped > 0) {
    stream_.count_lost(dropped);
  }
  stream_.drain();
}

/// Those of which nothing is missing, or for which the patience is at its end. Whether that is all.
bool Collector::finish_windows(bool is_last) {
  for (;;) {
    Ending ending;
    {
      const std::lock_guard lock(mutex_);
      if (endings_.empty()) return true;
      ending = std::move(endings_.front());
      endings_.pop_front();
    }
    flush(0);
    std::string problem;
    if (stream_.pool().in_flight(ending.buffers) > 0) {
      if (!is_last && Clock::now() - ending.since < settings_.patience) {
        const std::lock_guard lock(mutex_);
        endings_.push_front(std::move(ending));
        return false;
      }
      flush(kFlushAll);
      if (const std::size_t missing = stream_.pool().in_flight(ending.buffers); missing > 0) {
        problem = "CUPTI did not give back " + std::to_string(missing) +
                  " buffers of records, which another profiler in this process may have got; let "
                  "only one record at a time";
        stream_.pool().write_off(ending.buffers);
      }
    }
    stream_.drain();  // what came back since the flush
    stream_.close(ending.window);
    finish(ending, std::move(problem));
  }
}

void Collector::finish(Ending& ending, std::string problem) {
  try {
    DeviceActivity activity = ending.window->take();
    activity.devices = driver_.devices();
    activity.interface_version = cupti_.version;
    activity.driver_version = driver_.version();
    activity.runtime_version = runtime_version();
    activity.problem = std::move(problem);
    ending.result.set_value(std::make_shared<const DeviceActivity>(std::move(activity)));
  } catch (...) {
    ending.result.set_exception(std::current_exception());
  }
}

// The process's own.

namespace {

Result<Collector*> make_process_collector() {
  Result<DriverLibrary> driver = DriverLibrary::open();
  if (!driver.ok()) return driver.status();
  Result<CuptiLibrary> cupti = open_cupti();
  if (!cupti.ok()) return cupti.status();
  // Never destroyed: CUPTI calls back while the program ends.
  auto* const collector = new Collector(*std::move(cupti), *std::move(driver));
  static Collector* const only = collector;
  static_cast<void>(std::atexit([] { only->shut_down(); }));
  return collector;
}

}  // namespace

Result<Collector*> process_collector() {
  static const auto& made = *new Result<Collector*>(make_process_collector());
  return made;
}

void push_operator(std::uint64_t begin_ticks) {
  const Result<Collector*> collector = process_collector();
  if (!collector.ok()) return;
  if (auto* const push = (*collector)->cupti().push_external_id) push(kOperatorIds, begin_ticks);
}

void pop_operator() {
  const Result<Collector*> collector = process_collector();
  if (!collector.ok()) return;
  std::uint64_t last = 0;
  if (auto* const pop = (*collector)->cupti().pop_external_id) pop(kOperatorIds, &last);
}

}  // namespace tbtrace::cupti
