#include "recorder/process/call_gate.h"

#include <new>
#include <utility>

#include "base/forks.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

CallGate::Pass::Pass(CallGate& gate, bool is_nested)
    : gate_(&gate), is_nested_(is_nested), generation_(fork_count()) {}

CallGate::Pass::Pass(Pass&& other) noexcept
    : gate_(std::exchange(other.gate_, nullptr)),
      is_nested_(other.is_nested_),
      generation_(other.generation_) {}

CallGate::Pass::~Pass() {
  if (gate_ == nullptr || is_nested_ || generation_ != fork_count()) return;
  State& state = gate_->state_;
  // Told under the lock: whoever enters next may destroy the gate.
  const std::lock_guard lock(state.mutex);
  state.is_taken = false;
  state.inside = {};
  state.left.notify_one();
}

CallGate::CallGate() : state_() {}

CallGate::~CallGate() { state_.~State(); }

CallGate::Pass CallGate::enter() {
  std::unique_lock lock(state_.mutex);
  const auto self = std::this_thread::get_id();
  if (state_.is_taken && state_.inside == self) return {*this, true};
  state_.left.wait(lock, [this] { return !state_.is_taken; });
  state_.is_taken = true;
  state_.inside = self;
  return {*this, false};
}

std::optional<CallGate::Pass> CallGate::enter_until(Clock::time_point time) {
  std::unique_lock lock(state_.mutex);
  const auto self = std::this_thread::get_id();
  if (state_.is_taken && state_.inside == self) return Pass(*this, true);
  if (!state_.left.wait_until(lock, time, [this] { return !state_.is_taken; })) return std::nullopt;
  state_.is_taken = true;
  state_.inside = self;
  return Pass(*this, false);
}

void CallGate::begin_anew() { new (&state_) State; }

}  // namespace tbtrace::recorder
