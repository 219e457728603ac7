// Lets one thread at a time into an object, and says to whom of its callbacks calls it again.
// Any thread. A forked child finds the gate open, whoever was inside.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace tbtrace::recorder {

class CallGate {
 public:
  using Clock = std::chrono::steady_clock;

  /// While it lives, its thread is inside, unless a fork of the process began anew since.
  class Pass {
   public:
    Pass(Pass&& other) noexcept;
    Pass& operator=(Pass&&) = delete;
    ~Pass();

    /// The thread was inside already: this is a call from a callback.
    bool is_nested() const { return is_nested_; }

   private:
    friend class CallGate;
    Pass(CallGate& gate, bool is_nested);

    CallGate* gate_;
    bool is_nested_;
    std::uint64_t generation_;
  };

  CallGate();
  CallGate(const CallGate&) = delete;
  CallGate& operator=(const CallGate&) = delete;
  ~CallGate();

  /// Waits until nobody else is inside.
  Pass enter();
  /// Nothing if another thread is still inside at that time.
  std::optional<Pass> enter_until(Clock::time_point time);

  /// In a forked child, which has one thread.
  void begin_anew();

 private:
  struct State {
    std::mutex mutex;  // what follows
    std::condition_variable left;
    bool is_taken = false;
    std::thread::id inside;
  };

  // In place, so that a child can make it again without looking at it.
  union {
    State state_;
  };
};

}  // namespace tbtrace::recorder
