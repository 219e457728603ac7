// What a profiler does at which step: torch.profiler's table of actions, driving whatever records.
// Owns its schedule; the driven object must outlive it. Calls come from one thread at a time.
// A schedule that returns nonsense or throws leaves the cycle as it was, but for a closed step.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tbtrace/schedule.h>
#include <tbtrace/status.h>

#include "recorder/schedule/flight.h"

namespace tbtrace::recorder {

/// What a cycle drives. To drive something else, implement this; tests have a double.
class CycleTarget {
 public:
  virtual ~CycleTarget() = default;

  virtual void make() = 0;     ///< a fresh recorder; events of earlier cycles are dropped
  virtual void prepare() = 0;  ///< get ready, so that the start costs little
  virtual void start() = 0;
  virtual void stop() = 0;
  virtual void ready(std::int64_t step) = 0;  ///< the user's callback
  virtual void open_step(std::int64_t step) = 0;
  virtual void close_step() = 0;
  /// What becomes of a window that goes on, now that a step of it has ended.
  virtual WindowAfterStep after_step() { return WindowAfterStep::goes_on; }
  virtual void renew() {}  ///< stop() and start() at once, with nothing missing between them
  virtual void drop() {}   ///< stop(), but nobody wants what was recorded
  virtual void warn(std::string_view sentence) = 0;
  /// Whether a device that is recorded stopped by itself.
  virtual bool device_stopped() = 0;
};

/// Of torch 2.13's profile: start(), step() and stop() in any order and any number of times.
/// Failures carry torch's text; those of a schedule's own action have StatusCode::invalid_argument.
class Cycle {
 public:
  /// Without a schedule everything is recorded and steps have no annotations.
  Cycle(Schedule schedule, bool acc_events, CycleTarget& target);

  /// What the constructor has to complain of.
  const Status& made() const { return made_; }

  Status start();
  Status step();
  Status stop();
  /// For callbacks: the window that is handed over in this call is the last one. The cycle is not
  /// running afterwards, and nothing is prepared or begun any more. Without a window in this call,
  /// nothing changes.
  void stop_after_window() { stops_after_window_ = true; }

  /// From any thread, at any time.
  std::int64_t step_num() const { return step_num_; }
  /// What the schedule said of this step.
  ProfilerAction action() const { return scheduled_; }
  /// Whether a cycle, even one cut short by stop(), was handed over since the last start().
  bool handed_over() const { return handed_over_; }
  bool running() const { return running_; }

 private:
  using Action = ProfilerAction;

  /// `to` of nothing is the end.
  Status go(Action from, std::optional<Action> to);
  void prepare();
  Status begin();
  Status end();
  /// Whether the cycle goes on.
  bool ready();
  Status renew_if_wanted();
  void open_step();
  void close_step();

  Schedule schedule_;
  bool has_steps_;
  bool acc_events_;
  CycleTarget& target_;
  Status made_;

  std::atomic<std::int64_t> step_num_ = 0;
  Action scheduled_ = Action::record;  // what the schedule says of this step
  Action current_ = Action::record;
  bool step_is_open_ = false;
  bool has_recorder_ = false;
  bool told_of_clearing_ = false;
  bool handed_over_ = false;
  bool running_ = false;
  bool stops_after_window_ = false;
};

}  // namespace tbtrace::recorder
