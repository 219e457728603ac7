// Times of a trace: how far they may be from 0, which device work lies so far outside of the
// recording that its times cannot be, and as tables show them. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <tbtrace/trace.h>

#include "base/bounded_sum.h"
#include "base/time_ranges.h"

namespace tbtrace {

/// Times are nearer to 0 than this, so that differences of two of them do not overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

/// From the start of the trace's window to a time of the trace, in ns.
inline std::int64_t since_start(const Trace& trace, std::int64_t time_ns) {
  return bounded(WideInteger{time_ns} - trace.window_start_ns());
}

/// A launch comes before what it launches. Clocks of devices are off by milliseconds at most,
/// unless they were read wrongly.
inline constexpr std::int64_t kFarBeforeLaunchNs = 1'000'000'000;

/// From the first to the last device work that belongs to a recording, and all host ranges. Work
/// may run long after the last host range, but one piece follows the other: where nothing runs for
/// longer than the whole recording on the host, and one second, what lies beyond does not belong to
/// it. `host`: from the first host range to the end of the last one. `work`: of each piece of
/// device work, by start.
/// nullopt if all work belongs to it; also if half of it or more would not, since then the host
/// ranges or the clock of the device do not show when the recording was.
std::optional<TimeRange> recording_reach(TimeRange host, std::span<const TimeRange> work);

inline bool is_outside(TimeRange reach, TimeRange work) {
  return work.end < reach.start || work.start > reach.end;
}

/// Events whose times were lost: they are at time 0, long before all others. They count in sums,
/// but not for windows, steps and idle time.
struct EventsWithoutTimes {
  std::span<const EventId> at_zero;  ///< in file order
  /// In this part of the file most events have no times, so the others do not show what happened
  /// when. Empty if there is no such part.
  std::size_t from = 0;
  std::size_t to = 0;

  bool contains(EventId event, std::int64_t start_ns) const {
    return !at_zero.empty() && (start_ns == 0 || (index(event) >= from && index(event) < to));
  }
};

/// Among all events, by start, given the time of each. None if the only one at time 0 has a
/// duration, or if one ends less than a
/// second before the next event starts, since then a recording may have begun at time 0.
template <typename TimeOf>
EventsWithoutTimes events_without_times(std::span<const EventId> by_start, TimeOf time_of) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  constexpr std::size_t kFewestOutside = 10;  // percent of all events
  constexpr std::size_t kFewAtEdge = 5;       // likewise
  const auto start_of = [&](EventId event) { return time_of(event).start; };
  const auto first = std::ranges::lower_bound(by_start, 0, {}, start_of);
  const auto last = std::ranges::upper_bound(first, by_start.end(), 0, {}, start_of);
  if (first == last || last == by_start.end()) return {};
  if (last - first == 1 && time_of(*first).end > 0) return {};
  const std::int64_t next = start_of(*last);
  const bool are_far =
      std::all_of(first, last, [&](EventId event) { return time_of(event).end <= next - kSecond; });
  if (!are_far) return {};
  EventsWithoutTimes lost = {.at_zero = {first, last}};
  const std::size_t all = by_start.size();
  const auto [first_lost, last_lost] = std::ranges::minmax(lost.at_zero);
  std::size_t from = index(first_lost);
  std::size_t to = index(last_lost) + 1;
  if (from * 100 < all * kFewAtEdge) from = 0;
  if ((all - to) * 100 < all * kFewAtEdge) to = all;
  const bool are_most = lost.at_zero.size() * 2 > to - from;
  const bool any_outside = (all - (to - from)) * 100 >= all * kFewestOutside;
  if (are_most && any_outside) {
    lost.from = from;
    lost.to = to;
  }
  return lost;
}

class LostTimes {
 public:
  explicit LostTimes(const Trace& trace)
      : trace_(trace), lost_(events_without_times(trace.by_start(), [&](EventId event) {
          return TimeRange{trace.events().start_ns(event), trace.events().end_ns(event)};
        })) {}

  std::span<const EventId> at_zero() const { return lost_.at_zero; }
  bool contains(EventId event) const {
    return lost_.contains(event, trace_.events().start_ns(event));
  }

 private:
  const Trace& trace_;
  EventsWithoutTimes lost_;
};

}  // namespace tbtrace
