#include "analyses/gpu/idle_account.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>

#include "analyses/attribution/operator_names.h"
#include "analyses/attribution/work_times.h"
#include "analyses/gpu/host_causes.h"
#include "analyses/gpu/host_spans.h"
#include "analyses/steps/step_threads.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

struct Launch {
  std::int64_t end_ns = 0;
  std::uint32_t device = 0;  // its place among the devices
};

/// What the working threads of a process do, as far as gaps need it.
struct Process {
  HostSpans busy_threads;  ///< what counts while another thread is in code or silent
  HostSpans code;          ///< the same of code
};

/// Devices that one thread launches on: each may wait for the others.
struct Group {
  std::vector<TimeRange> busy;  ///< when any of them runs something
  bool is_single = true;        ///< it is only one device
};

/// The time that the host lost in a wait before a gap. Without the wait it would have been ahead by
/// that much.
struct Lost {
  std::int64_t ns = 0;
  IdleCause cause = IdleCause::synchronization;
  EventId call = EventId::none;
};

/// A part of a gap in which nothing changes, and what is known of it.
struct Stretch {
  std::uint32_t device = 0;
  std::optional<std::size_t> thread;  ///< the launching one
  TimeRange time = {};
  bool begins_gap = false;
  bool others_work = false;        ///< another device of the group is busy
  const HostSpan* host = nullptr;  ///< what counts; nullptr: nothing
  Lost lost = {};                  ///< in a wait earlier in the gap
};

/// Sorted spans or ranges at times that only grow.
template <typename Range>
class Place {
 public:
  explicit Place(std::span<const Range> ranges, std::int64_t from) : ranges_(ranges) {
    at_ = std::partition_point(ranges_.begin(), ranges_.end(),
                               [&](const Range& range) { return time_of(range).end <= from; });
  }

  /// The one at a time; nullptr if there is none. `until` becomes when that ends, if it is sooner.
  const Range* at(std::int64_t time, std::int64_t& until) {
    while (at_ != ranges_.end() && time_of(*at_).end <= time) ++at_;
    if (at_ == ranges_.end()) return nullptr;
    const bool is_open = time_of(*at_).start <= time;
    until = std::min(until, is_open ? time_of(*at_).end : time_of(*at_).start);
    return is_open ? &*at_ : nullptr;
  }

 private:
  static const TimeRange& time_of(const TimeRange& range) { return range; }
  static const TimeRange& time_of(const HostSpan& span) { return span.time; }

  std::span<const Range> ranges_;
  typename std::span<const Range>::iterator at_;
};

class Accounts {
 public:
  Accounts(const Trace& trace, const StepRules& rules, std::span<const DeviceActivities> devices)
      : trace_(trace),
        events_(trace.events()),
        links_(links_of(trace)),
        devices_(devices),
        causes_(trace, rules),
        unrecorded_(waits_for_unrecorded_work(trace)) {
    const TimeRange time = whole_time();
    for (const DeviceActivities& device : devices) {
      accounts_.push_back({device.device, device_gaps(trace, device.activities, time, 0), {}});
    }
    find_threads();
    find_processes();
  }

  std::vector<IdleAccount> run() {
    for (std::uint32_t device = 0; device < accounts_.size(); ++device) {
      for (std::uint32_t gap = 0; gap < accounts_[device].gaps.size(); ++gap) divide(device, gap);
    }
    return std::move(accounts_);
  }

 private:
  /// All that windows may cover.
  TimeRange whole_time() const {
    TimeRange time = {INT64_MAX, INT64_MIN};
    const auto add = [&](std::int64_t start, std::int64_t end) {
      time = {std::min(time.start, start), std::max(time.end, end)};
    };
    for (const DeviceActivities& device : devices_) {
      add(device.window.time.start, device.window.time.end);
      for (const DeviceLink* const link : device.activities) {
        add(events_.start_ns(link->activity), events_.end_ns(link->activity));
      }
    }
    for (const Step& step : trace_.steps()) {
      add(events_.start_ns(step.event), events_.end_ns(step.event));
    }
    return time;
  }

  /// The threads, what they launched, and which devices share a thread.
  void find_threads() {
    std::vector<EventId> steps;
    for (const Step& step : trace_.steps()) steps.push_back(step.event);
    is_working_.assign(trace_.tracks().size(), false);
    if (!steps.empty()) is_working_ = step_threads(trace_, steps);
    launches_.resize(trace_.tracks().size());
    std::vector<bool> launches_any(trace_.tracks().size(), false);
    std::vector<std::uint32_t> first_device(trace_.tracks().size(), UINT32_MAX);
    group_of_.resize(devices_.size());
    for (std::uint32_t device = 0; device < devices_.size(); ++device) group_of_[device] = device;
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
      for (const DeviceLink* const link : devices_[device].activities) {
        if (link->launch == EventId::none) continue;
        const std::size_t track = index(events_.track(link->launch));
        launches_any[track] = true;
        launching_.insert(outermost_operator(link->launch));
        if (trace_.kind(link->activity) == EventKind::kernel) is_working_[track] = true;
        launches_[track].push_back({events_.end_ns(link->launch), device});
        if (first_device[track] == UINT32_MAX) first_device[track] = device;
        join(first_device[track], device);
      }
    }
    const auto none = [](const std::vector<bool>& threads) {
      return std::ranges::none_of(threads, [](bool is_one) { return is_one; });
    };
    if (none(is_working_)) is_working_ = launches_any;
    if (none(is_working_)) is_working_ = step_threads(trace_, {});
    is_looked_at_ = is_working_;
    for (std::size_t track = 0; track < launches_.size(); ++track) {
      if (launches_any[track]) is_looked_at_[track] = true;
      std::ranges::stable_sort(launches_[track], {}, &Launch::end_ns);
    }
  }

  /// Puts two devices into one group.
  void join(std::uint32_t one, std::uint32_t other) {
    one = group_of(one);
    other = group_of(other);
    group_of_[std::max(one, other)] = std::min(one, other);
  }

  std::uint32_t group_of(std::uint32_t device) const {
    while (group_of_[device] != device) device = group_of_[device];
    return device;
  }

  void find_processes() {
    std::vector<TimeRange> idle;
    std::vector<TimeRange> all;
    for (const IdleAccount& account : accounts_) {
      for (const DeviceGap& gap : account.gaps) all.push_back(gap.time);
    }
    std::ranges::sort(all, {}, &TimeRange::start);
    for (const TimeRange& gap : all) add_range(idle, gap);
    spans_ = host_spans(trace_, causes_, is_looked_at_, idle);
    for (std::size_t track = 0; track < spans_.size(); ++track) {
      if (!is_working_[track]) continue;
      Process& process = processes_[links_.scope(TrackId(track))];
      add_where_free(process.busy_threads, spans_[track], Doing::works, Doing::decided);
      add_where_free(process.code, spans_[track], Doing::code, Doing::code);
    }
    find_groups();
  }

  void find_groups() {
    if (devices_.size() < 2) return;
    groups_.resize(devices_.size());
    std::vector<std::vector<TimeRange>> times(devices_.size());
    for (std::uint32_t device = 0; device < devices_.size(); ++device) {
      const std::uint32_t group = group_of(device);
      if (group != device) groups_[group].is_single = false;
      for (const DeviceLink* const link : devices_[device].activities) {
        times[group].push_back({events_.start_ns(link->activity), events_.end_ns(link->activity)});
      }
    }
    for (std::uint32_t group = 0; group < devices_.size(); ++group) {
      if (groups_[group].is_single) continue;
      std::ranges::sort(times[group], {}, &TimeRange::start);
      for (const TimeRange& time : times[group]) add_range(groups_[group].busy, time);
    }
  }

  /// The thread that launches what ends a gap, or launched what came before it.
  std::optional<std::size_t> launching_thread(const DeviceGap& gap) const {
    EventId launch = gap.ended_by.launch;
    if (gap.ended_by.activity == EventId::none) launch = launch_of(gap.after);
    if (launch == EventId::none) return std::nullopt;
    return index(events_.track(launch));
  }

  EventId launch_of(EventId activity) const {
    if (activity == EventId::none) return EventId::none;
    const std::span<const DeviceLink> links = links_.device_work();
    auto link = std::ranges::lower_bound(
        links, events_.start_ns(activity), {},
        [&](const DeviceLink& each) { return events_.start_ns(each.activity); });
    while (link != links.end() && link->activity != activity) ++link;
    return link == links.end() ? EventId::none : link->launch;
  }

  /// Whether the next launch of the thread that works, else of the launching one, or the launch
  /// that it is in, is for another device.
  bool serves_another(Stretch& stretch) const {
    const bool works = stretch.host->meaning.doing == Doing::works;
    const std::optional<std::size_t> thread =
        works ? std::optional(index(events_.track(stretch.host->range))) : stretch.thread;
    if (!thread) return false;
    const std::vector<Launch>& launches = launches_[*thread];
    const auto next = std::ranges::upper_bound(launches, stretch.time.start, {}, &Launch::end_ns);
    if (next == launches.end()) return false;
    stretch.time.end = std::min(stretch.time.end, next->end_ns);
    return next->device != stretch.device;
  }

  EventId outermost_operator(EventId range) const {
    const CallTree& tree = call_tree_of(trace_);
    EventId outermost = EventId::none;
    for (EventId around = range; around != EventId::none; around = tree.parent(around)) {
      if (trace_.kind(around) == EventKind::cpu_op) outermost = around;
    }
    return outermost;
  }

  static constexpr std::int64_t kLong = 100'000;  // ns, of an operator

  /// Whether a thread is in an operator that computes on the host, and so needs the results that it
  /// has waited for.
  bool computes_on_host(const HostSpan* host) const {
    if (host == nullptr || host->meaning.doing != Doing::works) return false;
    const EventId op = outermost_operator(host->range);
    return op != EventId::none && events_.duration_ns(op) >= kLong && !launching_.contains(op) &&
           !only_makes_tensors(trace_.name(op));
  }

  /// Whether an outermost operator calls the device's runtime. What it launched may be missing.
  bool calls_runtime(EventId op) const {
    if (!calling_) {
      calling_.emplace();
      for (const EventId range : call_tree_of(trace_).ranges()) {
        if (trace_.kind(range) == EventKind::runtime) calling_->insert(outermost_operator(range));
      }
    }
    return calling_->contains(op);
  }

  /// Divides a gap into stretches in which nothing begins or ends that a rule looks at.
  void divide(std::uint32_t device, std::uint32_t number) {
    static const HostSpans kNone;
    static const std::vector<TimeRange> kNever;
    const DeviceGap& gap = accounts_[device].gaps[number];
    const TimeRange time = gap.time;
    const bool is_ended = gap.ended_by.activity != EventId::none;
    const bool is_launch_known = gap.ended_by.launch != EventId::none;
    const EventId near = is_ended ? gap.ended_by.activity : gap.after;
    const Process& process = processes_[links_.scope(trace_, near)];
    const std::optional<std::size_t> thread = launching_thread(gap);
    const std::int64_t launched =
        is_launch_known ? std::min(events_.end_ns(gap.ended_by.launch), time.end) : time.end;

    Place<HostSpan> own(thread ? spans_[*thread] : kNone, time.start);
    Place<HostSpan> others(process.busy_threads, time.start);
    Place<HostSpan> code(process.code, time.start);
    Place<TimeRange> busy(groups_.empty() ? kNever : groups_[group_of(device)].busy, time.start);
    Stretch stretch = {.device = device, .thread = thread};
    for (std::int64_t at = time.start; at < time.end; at = stretch.time.end) {
      stretch.time = {at, at < launched ? launched : time.end};
      stretch.others_work = busy.at(at, stretch.time.end) != nullptr;
      IdleSpan span;
      if (at >= launched) {
        span.cause = stretch.others_work ? IdleCause::other_device : IdleCause::device;
      } else {
        stretch.host = own.at(at, stretch.time.end);
        if (stretch.host == nullptr || stretch.host->meaning.doing <= Doing::code) {
          const HostSpan* const other = others.at(at, stretch.time.end);
          if (other != nullptr) stretch.host = other;
        }
        if (stretch.host == nullptr) stretch.host = code.at(at, stretch.time.end);
        stretch.begins_gap = at == time.start;
        span = while_not_launched(stretch, is_ended && !is_launch_known);
      }
      span.time = stretch.time;
      span.gap = number;
      add(device, span);
    }
  }

  /// The rules below number 2 of docs/findings.md. Shortens the stretch where a rule ends in it.
  IdleSpan while_not_launched(Stretch& stretch, bool is_unknown) const {
    IdleSpan span;
    const HostSpan* const host = stretch.host;
    const Doing doing = host == nullptr ? Doing::silent : host->meaning.doing;
    if (host != nullptr) {
      span.range = host->range;
      span.call = host->meaning.call;
    }
    if (doing == Doing::decided) {
      span.cause = host->meaning.cause;
    } else if (is_unknown) {
      span.cause = IdleCause::unknown;
    } else if (doing == Doing::waits) {
      span.cause = in_wait(stretch);
    } else if (stretch.lost.ns > 0 && !computes_on_host(host) &&
               !(doing == Doing::code && host->meaning.keeps_its_time)) {
      Lost& lost = stretch.lost;
      stretch.time.end = std::min(stretch.time.end, stretch.time.start + lost.ns);
      lost.ns -= stretch.time.end - stretch.time.start;
      span.cause = lost.cause;
      span.call = lost.call;
    } else if (doing == Doing::silent) {
      span.cause = stretch.others_work ? IdleCause::other_device : IdleCause::nothing_recorded;
    } else if (stretch.others_work && serves_another(stretch)) {
      span.cause = IdleCause::other_device;
    } else {
      span.cause = doing == Doing::works ? IdleCause::launches : IdleCause::code;
      span.is_long_view = doing == Doing::works && events_.duration_ns(host->range) >= kLong &&
                          only_makes_tensors(trace_.name(host->range));
      span.is_on_cpu = computes_on_host(host) && !calls_runtime(outermost_operator(host->range));
    }
    return span;
  }

  /// The cause of a wait, which may put the host back for the rest of the gap.
  IdleCause in_wait(Stretch& stretch) const {
    const HostSpan& host = *stretch.host;
    const bool is_unrecorded =
        !stretch.others_work && std::ranges::binary_search(unrecorded_, host.range);
    if (stretch.begins_gap || is_unrecorded) {
      stretch.lost.cause = host.meaning.cause;
      stretch.lost.call = host.meaning.call;
    }
    if (stretch.begins_gap) stretch.lost.ns += stretch.time.start - events_.start_ns(host.range);
    if (is_unrecorded) stretch.lost.ns += stretch.time.end - stretch.time.start;
    return stretch.others_work ? IdleCause::other_device
           : is_unrecorded     ? IdleCause::unrecorded_work
                               : host.meaning.cause;
  }

  void add(std::uint32_t device, const IdleSpan& span) {
    std::vector<IdleSpan>& spans = accounts_[device].spans;
    if (!spans.empty()) {
      IdleSpan& last = spans.back();
      const bool is_same = last.gap == span.gap && last.cause == span.cause &&
                           last.call == span.call && last.range == span.range &&
                           last.time.end == span.time.start;
      if (is_same) {
        last.time.end = span.time.end;
        return;
      }
    }
    spans.push_back(span);
  }

  const Trace& trace_;
  const Events& events_;
  const Links& links_;
  std::span<const DeviceActivities> devices_;
  HostCauses causes_;
  std::vector<EventId> unrecorded_;  // sorted: waits for work that the file lacks
  std::vector<IdleAccount> accounts_;
  std::vector<bool> is_working_;           // by track: other threads may wait for these
  std::vector<bool> is_looked_at_;         // by track: these, and all that launch
  std::vector<std::uint32_t> group_of_;    // by device: another of its group, or itself
  std::vector<Group> groups_;              // by device; none if there is one device only
  std::unordered_set<EventId> launching_;  // outermost operators that launch device work
  mutable std::optional<std::unordered_set<EventId>> calling_;  // made when it is asked for
  std::vector<std::vector<Launch>> launches_;                   // by track
  std::vector<HostSpans> spans_;                                // by track
  std::map<std::uint32_t, Process> processes_;                  // by scope
};

}  // namespace

std::vector<IdleAccount> idle_accounts(const Trace& trace, const StepRules& rules,
                                       std::span<const DeviceActivities> devices) {
  return Accounts(trace, rules, devices).run();
}

}  // namespace tbtrace::analyses
