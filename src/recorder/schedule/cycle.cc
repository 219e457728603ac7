#include "recorder/schedule/cycle.h"

#include <utility>

#include <fmt/format.h>

#include "recorder/process/messages.h"

namespace tbtrace::recorder {

namespace {

Status reserved_action() {
  return {
      StatusCode::invalid_argument,
      "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned "
      "by a user-provided schedule"};
}

bool is_recording(ProfilerAction action) {
  return action == ProfilerAction::record || action == ProfilerAction::record_and_save;
}

/// A plain function may return any number.
Status checked(ProfilerAction action) {
  if (action == ProfilerAction::device_stopped) return reserved_action();
  if (action > ProfilerAction::device_stopped) {
    return {StatusCode::invalid_argument,
            fmt::format("the schedule returned {}, which is not a ProfilerAction",
                        static_cast<int>(action))};
  }
  return {};
}

}  // namespace

Cycle::Cycle(Schedule schedule, bool acc_events, CycleTarget& target)
    : schedule_(std::move(schedule)),
      has_steps_(static_cast<bool>(schedule_)),
      acc_events_(acc_events),
      target_(target) {
  if (!has_steps_) return;
  const Action first = schedule_(0);
  made_ = checked(first);
  if (made_.ok()) scheduled_ = current_ = first;
}

Status Cycle::start() {
  running_ = true;
  handed_over_ = stops_after_window_ = false;
  if (Status status = go(Action::none, current_); !status.ok()) return status;
  open_step();
  return {};
}

Status Cycle::step() {
  stops_after_window_ = false;
  close_step();
  if (current_ == Action::record) {
    if (Status renewed = renew_if_wanted(); !renewed.ok()) return renewed;
  }
  const Action previous = current_;
  const Action previously_scheduled = scheduled_;
  const Action next = has_steps_ ? schedule_(step_num_ + 1) : Action::record;
  if (Status status = checked(next); !status.ok()) return status;
  ++step_num_;
  scheduled_ = current_ = next;

  if (previous == Action::device_stopped) {
    // What is left of the cycle is passed over.
    const bool at_its_end =
        previously_scheduled == Action::record_and_save || current_ == Action::none;
    if (!at_its_end) current_ = Action::device_stopped;
  } else if ((previous == Action::warmup || previous == Action::record) &&
             current_ != Action::none && target_.device_stopped()) {
    target_.warn(fmt::format(
        "Device profiling activity collection was stopped early at step {}. Profiler schedule is "
        "proceeding until next cycle without actual profiler activity collection.",
        step_num()));
    current_ = Action::device_stopped;
  }

  if (Status status = go(previous, current_); !status.ok()) return status;
  if (stops_after_window_ && !running_) {
    current_ = scheduled_;
  } else {
    open_step();
  }
  return {};
}

Status Cycle::stop() {
  running_ = false;
  close_step();
  Status status = go(current_, std::nullopt);
  current_ = scheduled_;
  return status;
}

Status Cycle::go(Action from, std::optional<Action> to) {
  const bool to_recording = to && is_recording(*to);
  switch (from) {
    case Action::none:
    case Action::device_stopped:
      if (to_recording || to == Action::warmup) prepare();
      return to_recording ? begin() : Status();
    case Action::warmup:
      if (to == Action::warmup) return {};
      if (to == Action::none) target_.warn(kWarmupThenNone);
      if (Status status = begin(); !status.ok() || to_recording) return status;
      if (Status status = end(); !status.ok()) return status;
      if (to == Action::device_stopped) ready();
      return {};
    case Action::record:
      if (to_recording) return {};
      if (to == Action::none) target_.warn(kRecordThenNone);
      if (to == Action::warmup) target_.warn(kRecordThenWarmup);
      if (Status status = end(); !status.ok()) return status;
      if (!to || to == Action::device_stopped) ready();
      return {};
    case Action::record_and_save:
      if (Status status = end(); !status.ok()) return status;
      if (!ready()) return {};
      if (to_recording || to == Action::warmup) prepare();
      return to_recording ? begin() : Status();
  }
  return {};
}

void Cycle::prepare() {
  if (has_recorder_ && !acc_events_ && !told_of_clearing_) {
    told_of_clearing_ = true;
    target_.warn(kEventsCleared);
  }
  if (!has_recorder_ || !acc_events_) target_.make();
  has_recorder_ = true;
  target_.prepare();
}

Status Cycle::begin() {
  if (!has_recorder_) {
    return {StatusCode::check_failed, "Profiler must be initialized before starting trace"};
  }
  target_.start();
  return {};
}

Status Cycle::end() {
  if (!has_recorder_) {
    return {StatusCode::check_failed, "Profiler must be initialized before stopping trace"};
  }
  target_.stop();
  return {};
}

bool Cycle::ready() {
  handed_over_ = true;
  target_.ready(step_num_);
  if (stops_after_window_) running_ = false;
  return !stops_after_window_;
}

Status Cycle::renew_if_wanted() {
  const WindowAfterStep after = target_.after_step();
  if (after == WindowAfterStep::goes_on) return {};
  target_.renew();
  if (after == WindowAfterStep::handed_over && !ready()) target_.drop();
  return {};
}

void Cycle::open_step() {
  if (!has_steps_) return;
  step_is_open_ = true;
  target_.open_step(step_num_);
}

void Cycle::close_step() {
  if (!step_is_open_) return;
  step_is_open_ = false;
  target_.close_step();
}

}  // namespace tbtrace::recorder
