#include "recorder/schedule/flight.h"

#include <algorithm>

#include <fmt/format.h>

namespace tbtrace::recorder {

namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

void FlightRecorder::begin_window(Clock::time_point now) { window_began_ = step_began_ = now; }

/// Adds the step to those that later ones are compared with.
bool FlightRecorder::is_slow(Clock::time_point now, Clock::duration took) {
  bool is_slow = false;
  if (options_.on_slow_step > 0 && steps_.size() >= kFewestSteps) {
    std::vector<Clock::duration> sorted = steps_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const Seconds median = *middle;
    // What was handed over just now has most of it already.
    const bool is_soon = last_slow_ && now - *last_slow_ < Seconds(options_.keep_seconds);
    is_slow = !is_soon && Seconds(took) > median * options_.on_slow_step;
    if (is_slow) {
      last_slow_ = now;
      reason_ = fmt::format(R"({{"reason": "slow_step", "step_ns": {}, "median_ns": {}}})",
                            std::chrono::nanoseconds(took).count(),
                            std::chrono::nanoseconds(*middle).count());
    }
  }
  if (steps_.size() < kMostSteps) {
    steps_.push_back(took);
  } else {
    steps_[next_] = took;
    next_ = (next_ + 1) % kMostSteps;
  }
  return is_slow;
}

WindowAfterStep FlightRecorder::end_step(Clock::time_point now, std::size_t window_bytes,
                                         bool is_asked) {
  const Clock::duration took = now - step_began_;
  step_began_ = now;
  const bool was_slow = is_slow(now, took);
  if (is_asked) reason_ = R"({"reason": "asked"})";
  if (is_asked || was_slow) return WindowAfterStep::handed_over;
  const bool is_long =
      options_.keep_seconds > 0 && now - window_began_ >= Seconds(options_.keep_seconds);
  const bool is_large = options_.keep_bytes > 0 && window_bytes >= options_.keep_bytes / 2;
  return is_long || is_large ? WindowAfterStep::renewed : WindowAfterStep::goes_on;
}

}  // namespace tbtrace::recorder
