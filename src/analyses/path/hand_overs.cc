#include "analyses/path/hand_overs.h"

#include <algorithm>
#include <optional>

#include "analyses/attribution/forward_operators.h"
#include "base/time_ranges.h"
#include "trace/call_tree.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

struct Busy {
  std::vector<TimeRange> times;      // of operators and calls, by start
  std::vector<bool> holds_backward;  // by time: one of them is a node of autograd's graph
  bool any_backward = false;
};

std::vector<Busy> busy_times(const Trace& trace) {
  const Events& events = trace.events();
  std::vector<Busy> threads(trace.tracks().size());
  for (const EventId range : call_tree_of(trace).ranges()) {
    const EventKind kind = trace.kind(range);
    if (kind != EventKind::cpu_op && kind != EventKind::runtime) continue;
    if (is_step_name(trace.name(range))) continue;  // an operator in files of 2020 and 2021
    Busy& busy = threads[index(events.track(range))];
    const TimeRange time = {events.start_ns(range), events.end_ns(range)};
    const bool backward = kind == EventKind::cpu_op && is_backward(trace, range);
    busy.any_backward = busy.any_backward || backward;
    if (!busy.times.empty() && time.start < busy.times.back().end) {
      busy.times.back().end = std::max(busy.times.back().end, time.end);
      busy.holds_backward.back() = busy.holds_backward.back() || backward;
      continue;
    }
    busy.times.push_back(time);
    busy.holds_backward.push_back(backward);
  }
  return threads;
}

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

std::vector<HandOver> find_hand_overs(const Trace& trace, const std::vector<bool>& step_threads) {
  const std::vector<Busy> threads = busy_times(trace);
  std::vector<HandOver> found;
  for (std::size_t from = 0; from < threads.size(); ++from) {
    if (!step_threads[from] || threads[from].times.empty()) continue;
    for (std::size_t to = 0; to < threads.size(); ++to) {
      const Busy& busy = threads[to];
      const bool is_other = to != from && !step_threads[to] && busy.any_backward;
      const bool is_of_process = trace.tracks()[to].process == trace.tracks()[from].process;
      if (!is_other || !is_of_process) continue;
      std::optional<HandOver> open;
      bool holds_backward = false;
      const auto close = [&] {
        if (open && holds_backward) found.push_back(*open);
        open.reset();
        holds_backward = false;
      };
      for (std::size_t at = 0; at < busy.times.size(); ++at) {
        const TimeRange time = busy.times[at];
        const std::optional<TimeRange> gap = gap_around(threads[from].times, time);
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
