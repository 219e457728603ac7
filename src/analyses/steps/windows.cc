#include "analyses/steps/windows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyses/attribution/open_steps.h"
#include "analyses/steps/inferred.h"

namespace tbtrace::analyses {
namespace {

/// When the work launched by a step ran.
struct DeviceTime {
  std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
};

class Windows {
 public:
  Windows(const Trace& trace, const StepRules& rules, std::span<const DeviceLink> work,
          bool keep_unfinished)
      : trace_(trace), rules_(rules), work_(work) {
    for (const Step& step : rules.steps()) {
      if (!keep_unfinished && trace.events().unfinished(step.event)) {
        unfinished_.push_back(step);
        continue;
      }
      steps_.push_back({step, {rules.start_ns(step.event), rules.end_ns(step.event)}});
    }
    if (steps_.empty()) add_only_step();
  }

  StepWindows run(bool keep_tail) && {
    match_work();
    StepWindows windows;
    if (any_matched_) {
      widen();
      if (!keep_tail) windows.dropped = steps_.size() - complete_steps();
      steps_.resize(steps_.size() - windows.dropped);
    }
    windows.steps = std::move(steps_);
    windows.unfinished = std::move(unfinished_);
    return windows;
  }

 private:
  void add_only_step() {
    std::optional<TimeRange> time;
    for (const EventId event : trace_.by_start()) {
      if (!rules_.is_cpu_row(event)) continue;
      if (!time) time = {rules_.start_ns(event), rules_.end_ns(event)};
      time->end = std::max(time->end, rules_.end_ns(event));
    }
    if (time) steps_.push_back({{}, *time});
  }

  void match_work() {
    device_times_.resize(steps_.size());
    is_matched_.resize(work_.size(), false);
    if (steps_.empty()) return;
    if (rules_.policy().launches_by_open_step && steps_.front().step.event != EventId::none) {
      match_open_steps();
    } else {
      match_first_steps();
    }
  }

  void match_open_steps() {
    const std::vector<Step> all = rules_.steps();                   // also those that did not end
    std::vector<std::size_t> number_of(all.size(), steps_.size());  // in steps_, both by start
    for (std::size_t step = 0, next = 0; step < all.size() && next < steps_.size(); ++step) {
      if (all[step].event == steps_[next].step.event) number_of[step] = next++;
    }
    const OpenSteps open(trace_, all);
    for (std::size_t row = 0; row < work_.size(); ++row) {
      const std::optional<std::size_t> step = open.at_start_of(launching_range(work_[row]));
      if (step && number_of[*step] < steps_.size()) match(row, number_of[*step]);
    }
  }

  void match_first_steps() {
    std::vector<std::pair<std::int64_t, std::size_t>> launched;  // start of launch, row of work
    for (std::size_t row = 0; row < work_.size(); ++row) {
      if (work_[row].launch == EventId::none) continue;
      launched.emplace_back(rules_.start_ns(work_[row].launch), row);
    }
    std::sort(launched.begin(), launched.end());
    std::size_t next = 0;
    for (const auto& [start, row] : launched) {
      while (next < steps_.size() && start >= steps_[next].time.end &&
             start >= steps_[next].time.start) {
        ++next;
      }
      if (next == steps_.size()) return;
      const TimeRange& time = steps_[next].time;
      if (start >= time.start && rules_.end_ns(work_[row].launch) <= time.end) match(row, next);
    }
  }

  void match(std::size_t row, std::size_t step) {
    DeviceTime& time = device_times_[step];
    time.first_start = std::min(time.first_start, rules_.start_ns(work_[row].activity));
    time.last_end = std::max(time.last_end, rules_.end_ns(work_[row].activity));
    ++steps_[step].launched;
    is_matched_[row] = true;
    any_matched_ = true;
  }

  /// The first step waits for work that was launched before it and finished before its own work;
  /// of work without a known launch, what began before the step, or what comes before its first
  /// work on a stream.
  std::int64_t end_before_first() const {
    std::int64_t end = steps_[0].time.start;
    if (steps_[0].launched == 0) return end;
    const bool knows_backlog = rules_.policy().keeps_host_parts;
    const Backlog backlog = knows_backlog ? find_backlog() : Backlog();
    for (std::size_t row = 0; row < work_.size(); ++row) {
      if (is_matched_[row] || !began_before_first(work_[row])) continue;
      const std::int64_t work_end = rules_.end_ns(work_[row].activity);
      if (work_end < device_times_[0].first_start) end = std::max(end, work_end);
    }
    for (const std::int64_t stream_end : backlog.ends) {
      if (stream_end <= backlog.first_start) end = std::max(end, stream_end);
    }
    return end;
  }

  /// The device runs behind the host: what it still had to do when the recording began. Work on a
  /// stream runs in the order of its launches, so what comes before the first work whose launch was
  /// recorded was launched before the recording, if it began before that launch did; else its own
  /// launch may have been lost.
  struct Backlog {
    std::vector<std::int64_t> ends;  // by stream with a backlog
    /// Of the first kernel with a recorded launch, on these streams.
    std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
  };

  Backlog find_backlog() const {
    struct Stream {
      std::int64_t end = std::numeric_limits<std::int64_t>::min();
      std::int64_t first_start = std::numeric_limits<std::int64_t>::max();
      std::int64_t first_launch = std::numeric_limits<std::int64_t>::max();
      std::int64_t begin = 0;    // of what comes before the first with a launch
      std::size_t before = 0;    // without a launch, before the first with one
      std::size_t launched = 0;  // with one
      std::size_t unknown = 0;   // without one, after that
    };
    std::map<TrackId, Stream> streams;
    for (const DeviceLink& link : work_) {
      Stream& stream = streams[trace_.events().track(link.activity)];
      if (link.launch != EventId::none) {
        ++stream.launched;
        const std::int64_t start = rules_.start_ns(link.activity);
        stream.first_launch = std::min(stream.first_launch, rules_.start_ns(link.launch));
        if (rules_.is_kernel(link.activity)) {
          stream.first_start = std::min(stream.first_start, start);
        }
      } else if (stream.launched > 0) {
        ++stream.unknown;
      } else {
        if (stream.before++ == 0) stream.begin = rules_.start_ns(link.activity);
        stream.end = std::max(stream.end, rules_.end_ns(link.activity));
      }
    }
    Backlog backlog;
    for (const auto& [track, stream] : streams) {
      // Where launches are missing later on, too, they may have been lost.
      constexpr std::size_t kFewestLaunches = 10;  // for each one that is missing
      const bool is_known =
          stream.launched > 0 && stream.unknown * kFewestLaunches <= stream.launched;
      if (stream.before == 0 || !is_known || stream.begin >= stream.first_launch) continue;
      backlog.ends.push_back(stream.end);
      backlog.first_start = std::min(backlog.first_start, stream.first_start);
    }
    return backlog;
  }

  bool began_before_first(const DeviceLink& link) const {
    if (!rules_.policy().keeps_host_parts) return true;
    const EventId first_seen = link.launch != EventId::none ? link.launch : link.activity;
    return rules_.start_ns(first_seen) < steps_[0].time.start;
  }

  /// From when the step before has ended on the device, to the end of its own work there.
  void widen() {
    std::int64_t previous_end = end_before_first();
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      TimeRange& time = steps_[step].time;
      const TimeRange host = time;
      time.start = std::max(host.start, previous_end);
      time.end = std::max({host.end, time.start, device_times_[step].last_end});
      if (rules_.policy().keeps_host_parts) {
        time.start = std::min(time.start, time.end - (host.end - host.start));
      }
      previous_end = time.end;
    }
  }

  /// The number of steps without those at the end whose work may be missing. How much the steps of
  /// an engine launch depends on what they are, so that they are complete if they launch anything.
  std::size_t complete_steps() const {
    std::size_t last = steps_.size() - 1;
    while (steps_[last].launched == 0) --last;  // at least one step launched work
    if (last == 0) return 1;
    const auto launched = static_cast<double>(steps_[last].launched);
    if (static_cast<double>(steps_[last - 1].launched) * 0.8 <= launched) return last + 1;
    const bool may_differ =
        rules_.policy().takes_engine_steps && !engine_iterations(trace_).empty();
    return may_differ ? last + 1 : last;
  }

  const Trace& trace_;
  const StepRules& rules_;
  std::span<const DeviceLink> work_;
  std::vector<StepWindow> steps_;
  std::vector<Step> unfinished_;
  std::vector<DeviceTime> device_times_;  // by step
  std::vector<bool> is_matched_;          // by row of work
  bool any_matched_ = false;
};

}  // namespace

StepWindows step_windows(const Trace& trace, const StepRules& rules,
                         std::span<const DeviceLink> work, StepChoice choice) {
  const bool keep_unfinished =
      choice == StepChoice::all_recorded || !rules.policy().leaves_out_unfinished;
  return Windows(trace, rules, work, keep_unfinished).run(choice != StepChoice::complete);
}

}  // namespace tbtrace::analyses
