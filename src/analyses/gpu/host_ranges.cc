#include "analyses/gpu/host_ranges.h"

#include <algorithm>
#include <cstddef>

#include "trace/call_tree.h"
#include "trace/innermost_ranges.h"

namespace tbtrace::analyses {
namespace {

std::int64_t overlap(const TimeRange& one, const TimeRange& other) {
  return std::max<std::int64_t>(0, std::min(one.end, other.end) - std::max(one.start, other.start));
}

/// The times of a thread, for ranges that come by start.
class ThreadTimes {
 public:
  void add(std::size_t number) { numbers_.push_back(number); }

  /// Calls `visit` with the number of each time that overlaps a range.
  template <typename Visit>
  void visit_overlapping(std::span<const ThreadTime> times, const TimeRange& range,
                         const Visit& visit) {
    while (next_ < numbers_.size() && times[numbers_[next_]].time.end <= range.start) ++next_;
    for (std::size_t at = next_; at < numbers_.size(); ++at) {
      if (times[numbers_[at]].time.start >= range.end) return;
      visit(numbers_[at]);
    }
  }

 private:
  std::vector<std::size_t> numbers_;
  std::size_t next_ = 0;  // the first one that has not ended
};

class HostSearch {
 public:
  HostSearch(const Trace& trace, std::span<const ThreadTime> times)
      : trace_(trace), tree_(call_tree_of(trace)), times_(times), found_(times.size()) {}

  std::vector<HostTime> run() && {
    find_middles();
    find_longest();
    for (std::size_t number = 0; number < times_.size(); ++number) {
      HostTime& found = found_[number].most;
      const std::int64_t length = times_[number].time.end - times_[number].time.start;
      const std::int64_t idle = length - found_[number].busy_ns;
      if (idle > length - idle) {
        found = {EventId::none, idle};
        continue;
      }
      // What was open for more than half of a time was open in its middle.
      for (EventId range = found_[number].in_middle; range != EventId::none;
           range = tree_.parent(range)) {
        const std::int64_t ns = overlap(time_of(range), times_[number].time);
        if (ns <= length - ns) continue;
        found = {range, ns};
        break;
      }
    }
    std::vector<HostTime> hosts;
    hosts.reserve(found_.size());
    for (const Found& each : found_) hosts.push_back(each.most);
    return hosts;
  }

 private:
  struct Found {
    HostTime most;
    EventId in_middle = EventId::none;
    std::int64_t busy_ns = 0;
  };

  TimeRange time_of(EventId range) const {
    return {trace_.events().start_ns(range), trace_.events().end_ns(range)};
  }

  std::vector<ThreadTimes> by_thread() const {
    std::vector<ThreadTimes> threads(trace_.tracks().size());
    for (std::size_t number = 0; number < times_.size(); ++number) {
      threads[index(times_[number].thread)].add(number);
    }
    return threads;
  }

  void find_middles() {
    std::vector<ThreadTimes> threads = by_thread();
    visit_innermost_ranges(trace_, tree_, [&](EventId range, const TimeRange& time) {
      ThreadTimes& thread = threads[index(trace_.events().track(range))];
      thread.visit_overlapping(times_, time, [&](std::size_t number) {
        const TimeRange& wanted = times_[number].time;
        found_[number].busy_ns += overlap(time, wanted);
        const std::int64_t middle = wanted.start + (wanted.end - wanted.start) / 2;
        if (time.start <= middle && middle < time.end) found_[number].in_middle = range;
      });
    });
  }

  void find_longest() {
    std::vector<ThreadTimes> threads = by_thread();
    for (const EventId range : tree_.ranges()) {
      if (tree_.parent(range) != EventId::none) continue;
      const TimeRange time = time_of(range);
      ThreadTimes& thread = threads[index(trace_.events().track(range))];
      thread.visit_overlapping(times_, time, [&](std::size_t number) {
        const std::int64_t ns = overlap(time, times_[number].time);
        if (ns > found_[number].most.ns) found_[number].most = {range, ns};
      });
    }
  }

  const Trace& trace_;
  const CallTree& tree_;
  std::span<const ThreadTime> times_;
  std::vector<Found> found_;
};

}  // namespace

std::vector<HostTime> host_times(const Trace& trace, std::span<const ThreadTime> times) {
  return HostSearch(trace, times).run();
}

}  // namespace tbtrace::analyses
