#include "analyses/gpu/host_ranges.h"

#include <algorithm>
#include <cstddef>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

/// A range that was open in a time.
struct OpenRange {
  EventId range = EventId::none;
  std::int64_t ns = 0;            ///< for how long
  std::int64_t own_ns = 0;        ///< without what is inside it
  std::uint32_t longest = kNone;  ///< inside it, in the list
};

class HostSearch {
 public:
  explicit HostSearch(const Trace& trace)
      : trace_(trace), events_(trace.events()), tree_(call_tree_of(trace)) {
    place_.resize(events_.size(), kNone);
  }

  std::vector<HostTime> run(std::span<const ThreadTime> times) {
    std::vector<HostTime> found(times.size());
    struct Thread {
      std::vector<std::uint32_t> times;
      std::vector<EventId> ranges;  // by start, parents first
    };
    std::vector<Thread> threads(trace_.tracks().size());
    for (std::uint32_t number = 0; number < times.size(); ++number) {
      threads[index(times[number].thread)].times.push_back(number);
    }
    for (const EventId range : tree_.ranges()) {
      Thread& thread = threads[index(events_.track(range))];
      if (!thread.times.empty()) thread.ranges.push_back(range);
    }
    for (const Thread& thread : threads) {
      std::vector<EventId> open;  // when a time begins, or since then
      std::size_t next = 0;
      for (const std::uint32_t number : thread.times) {
        const TimeRange& time = times[number].time;
        std::erase_if(open, [&](EventId range) { return events_.end_ns(range) <= time.start; });
        for (; next < thread.ranges.size(); ++next) {
          const EventId range = thread.ranges[next];
          if (events_.start_ns(range) >= time.end) break;
          if (events_.end_ns(range) > time.start) open.push_back(range);
        }
        found[number] = host_time(open, time);
      }
    }
    return found;
  }

 private:
  /// `open`: the ranges that were open in the time, parents first.
  HostTime host_time(const std::vector<EventId>& open, const TimeRange& time) {
    ranges_.clear();
    std::uint32_t longest = kNone;
    std::int64_t idle_ns = 0;
    std::int64_t busy_until = time.start;
    for (const EventId range : open) {
      const std::int64_t start = std::max(events_.start_ns(range), time.start);
      const std::int64_t end = std::min(events_.end_ns(range), time.end);
      idle_ns += std::max<std::int64_t>(0, start - busy_until);
      busy_until = std::max(busy_until, end);
      const auto place = static_cast<std::uint32_t>(ranges_.size());
      place_[index(range)] = place;
      ranges_.push_back({range, end - start, end - start});
      OpenRange* const around = open_around(range);
      if (around != nullptr) around->own_ns -= end - start;
      std::uint32_t& longest_there = around == nullptr ? longest : around->longest;
      const bool is_longer = longest_there == kNone || ranges_[longest_there].ns < end - start;
      if (is_longer) longest_there = place;
    }
    idle_ns += time.end - busy_until;
    const bool is_idle = longest == kNone || idle_ns > time.end - time.start - idle_ns;
    if (is_idle) return {EventId::none, idle_ns};
    const OpenRange* most = &ranges_[longest];
    while (most->longest != kNone && ranges_[most->longest].ns >= most->own_ns) {
      most = &ranges_[most->longest];
    }
    return {most->range, most->ns};
  }

  /// The range around another one; nullptr if there is none in the list.
  OpenRange* open_around(EventId range) {
    const EventId around = tree_.parent(range);
    if (around == EventId::none) return nullptr;
    const std::uint32_t place = place_[index(around)];
    const bool is_there = place < ranges_.size() && ranges_[place].range == around;
    return is_there ? &ranges_[place] : nullptr;
  }

  const Trace& trace_;
  const Events& events_;
  const CallTree& tree_;
  std::vector<OpenRange> ranges_;  // of one time
  Column<std::uint32_t> place_;    // by event: where it is, or was, in that list
};

}  // namespace

std::vector<HostTime> host_times(const Trace& trace, std::span<const ThreadTime> times) {
  return HostSearch(trace).run(times);
}

}  // namespace tbtrace::analyses
