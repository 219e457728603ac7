// When a flight recorder begins a new window, and when it hands over what it has.
// Plain logic: the caller says what time it is. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbtrace::recorder {

/// What becomes of the window at the end of a step.
enum class WindowAfterStep : std::uint8_t {
  goes_on,
  renewed,     ///< another one begins; this one and the one before it are kept
  handed_over  ///< with the one before it, and another one begins
};

struct FlightOptions {
  double keep_seconds = 0;     ///< 0: by size alone
  std::size_t keep_bytes = 0;  ///< of both windows; 0: by time alone
  double on_slow_step = 0;     ///< times the median; 0: never
};

class FlightRecorder {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FlightRecorder(const FlightOptions& options) : options_(options) {}

  void begin_window(Clock::time_point now);
  /// The step since begin_window() or the step before ends. `is_asked`: somebody wants what there
  /// is.
  WindowAfterStep end_step(Clock::time_point now, std::size_t window_bytes, bool is_asked);
  /// Why the last end_step() said handed_over, as JSON.
  const std::string& reason() const { return reason_; }

  /// So many steps must have passed before one is slow.
  static constexpr std::size_t kFewestSteps = 10;

 private:
  bool is_slow(Clock::time_point now, Clock::duration took);

  static constexpr std::size_t kMostSteps = 101;  // that the median is of

  const FlightOptions options_;
  Clock::time_point window_began_ = {};
  Clock::time_point step_began_ = {};
  std::optional<Clock::time_point> last_slow_;
  std::vector<Clock::duration> steps_;  // the last ones, the next place for one is next_
  std::size_t next_ = 0;
  std::string reason_;
};

}  // namespace tbtrace::recorder
