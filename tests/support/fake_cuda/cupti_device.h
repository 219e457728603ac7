// The clock of records, and when the streams of the devices have done what they were given.
// Own all they need. Any thread. Nothing here can fail.
// Waiting goes by the steady clock, so that it ends whatever the user's clock shows.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "support/fake_cuda/fake_cuda.h"

namespace tbtrace::fake_cuda {

class Clock {
 public:
  using Function = std::uint64_t (*)();

  void set_function(Function function);
  /// The user's function, CLOCK_REALTIME without one.
  std::uint64_t now() const;
  /// Work that ends up to here is done.
  std::uint64_t done_until() const;
  void finish_until(std::uint64_t end);
  void reset();

 private:
  std::atomic<Function> function_ = nullptr;
  std::atomic<std::uint64_t> finished_ = 0;
};

class Timeline {
 public:
  struct Work {
    std::uint64_t start;
    std::uint64_t end;
  };

  explicit Timeline(Clock& clock) : clock_(clock) {}

  /// `now` is the end of the call that gives the work.
  Work schedule(const Stream& stream, const Span& span, std::uint64_t now);
  /// Until when the stream has work.
  std::uint64_t end_of(const Stream& stream);
  /// The same, after work that was not scheduled one by one.
  void set_end(const Stream& stream, std::uint64_t end, std::uint64_t now);

  /// What was `from` is `to` now; work that is under way goes on.
  void clock_changed(std::uint64_t from, std::uint64_t to);

  void wait(const Stream& stream);
  void wait_for_device(int device);  ///< -1: all
  void skip_waits(bool skip) { skip_ = skip; }
  void reset();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  struct End {
    std::uint64_t ns = 0;
    SteadyTime steady = {};
  };

  void wait_until(const End& end);

  Clock& clock_;
  std::atomic<bool> skip_ = false;
  std::mutex mutex_;                                             // what follows
  std::map<std::pair<std::uint32_t, std::uint32_t>, End> ends_;  // by device and stream
};

}  // namespace tbtrace::fake_cuda
