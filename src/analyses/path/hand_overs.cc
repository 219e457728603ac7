#include "analyses/path/hand_overs.h"

#include <algorithm>
#include <optional>

#include "base/time_ranges.h"

namespace tbtrace::analyses {
namespace {

/// The time between two busy ones, or after the last one, in which `time` lies; nullopt if it lies
/// in none.
std::optional<TimeRange> gap_around(const std::vector<TimeRange>& times, TimeRange time) {
  const auto next = std::ranges::upper_bound(times, time.start, {}, &TimeRange::start);
  if (next == times.begin()) return std::nullopt;
  const TimeRange gap = {(next - 1)->end, next == times.end() ? kNeverResumes : next->start};
  if (gap.start > time.start || gap.end < time.end) return std::nullopt;
  return gap;
}

}  // namespace

std::vector<HandOver> find_hand_overs(const BusyThreads& threads) {
  std::vector<HandOver> found;
  for (std::size_t from = 0; from < threads.size(); ++from) {
    if (!threads.runs_steps(from) || threads.of(from).times.empty()) continue;
    for (std::size_t to = 0; to < threads.size(); ++to) {
      const BusyThread& busy = threads.of(to);
      const bool is_other = to != from && !threads.runs_steps(to) && busy.any_backward;
      if (!is_other || !threads.are_of_one_process(from, to)) continue;
      std::optional<HandOver> open;
      bool holds_backward = false;
      const auto close = [&] {
        if (open && holds_backward) found.push_back(*open);
        open.reset();
        holds_backward = false;
      };
      for (std::size_t at = 0; at < busy.times.size(); ++at) {
        const TimeRange time = busy.times[at];
        const std::optional<TimeRange> gap = gap_around(threads.of(from).times, time);
        if (open && gap && open->stops == gap->start) {
          open->ends = std::max(open->ends, time.end);
        } else {
          close();
          if (gap) {
            open = HandOver{static_cast<TrackId>(from),
                            static_cast<TrackId>(to),
                            gap->start,
                            time.start,
                            time.end,
                            gap->end};
          }
        }
        holds_backward = holds_backward || busy.holds_backward[at];
      }
      close();
    }
  }
  std::ranges::sort(found, {}, &HandOver::begins);
  return found;
}

}  // namespace tbtrace::analyses
