#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include <tbtrace/schedule.h>

#include "recorder/process/messages.h"

namespace tbtrace {

const char* action_name(ProfilerAction action) {
  switch (action) {
    case ProfilerAction::none:
      return "NONE";
    case ProfilerAction::warmup:
      return "WARMUP";
    case ProfilerAction::record:
      return "RECORD";
    case ProfilerAction::record_and_save:
      return "RECORD_AND_SAVE";
    case ProfilerAction::device_stopped:
      return "DEVICE_STOPPED";
  }
  return "unknown";
}

Schedule schedule(const ScheduleOptions& options) {
  if (options.wait < 0 || options.warmup < 0 || options.active <= 0 || options.repeat < 0 ||
      options.skip_first < 0) {
    throw std::invalid_argument(fmt::format(
        "Invalid profiler schedule arguments. Got wait={} (need >= 0), warmup={} (need >= 0), "
        "active={} (need > 0), repeat={} (need >= 0), skip_first={} (need >= 0).",
        options.wait, options.warmup, options.active, options.repeat, options.skip_first));
  }
  if (options.warmup == 0) recorder::warn(recorder::kNoWarmup);
  return [options](std::int64_t step) {
    if (step < 0) {
      throw std::invalid_argument(fmt::format("Step must be non-negative. Got {}.", step));
    }
    if (step < options.skip_first) return ProfilerAction::none;
    // Sums are unsigned: of numbers near the end of the range they stay what they are.
    const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    std::uint64_t at = number(step - options.skip_first);
    if (options.skip_first_wait != 0) at += number(options.wait);
    const std::uint64_t ready = number(options.wait) + number(options.warmup);
    const std::uint64_t length = ready + number(options.active);
    if (options.repeat > 0 && at / length >= number(options.repeat)) return ProfilerAction::none;
    at %= length;
    if (at < number(options.wait)) return ProfilerAction::none;
    if (at < ready) return ProfilerAction::warmup;
    return at + 1 < length ? ProfilerAction::record : ProfilerAction::record_and_save;
  };
}

std::string explain(const Schedule& schedule, std::int64_t steps) {
  std::string text;
  std::int64_t cycles = 0;
  const auto stretch = [&](std::int64_t first, std::int64_t last, ProfilerAction action) {
    const std::string range =
        first == last ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last);
    text += fmt::format("{}: {}\n", range, action_name(action));
  };
  std::int64_t first = 0;
  ProfilerAction action = ProfilerAction::none;
  for (std::int64_t step = 0; step < steps; ++step) {
    const ProfilerAction now = schedule(step);
    if (step > 0 && (now != action || action == ProfilerAction::record_and_save)) {
      stretch(first, step - 1, action);
      if (action == ProfilerAction::record_and_save) {
        text += fmt::format("  step() number {} hands over cycle {}\n", step, ++cycles);
      }
      first = step;
    }
    action = now;
  }
  if (steps > 0) stretch(first, steps - 1, action);
  if (cycles == 0) {
    text += action == ProfilerAction::record || action == ProfilerAction::record_and_save
                ? "only stop() hands over what is recorded\n"
                : "no cycle is handed over in so many steps\n";
  }
  return text;
}

}  // namespace tbtrace
