#include "analyses/path/busy_threads.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "analyses/attribution/forward_operators.h"
#include "trace/call_tree.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {

BusyThreads::BusyThreads(const Trace& trace, std::vector<bool> runs_steps)
    : trace_(trace), runs_steps_(std::move(runs_steps)), threads_(trace.tracks().size()) {
  const Events& events = trace.events();
  for (const EventId range : call_tree_of(trace).ranges()) {
    const EventKind kind = trace.kind(range);
    if (kind != EventKind::cpu_op && kind != EventKind::runtime) continue;
    if (is_step_name(trace.name(range))) continue;  // an operator in files of 2020 and 2021
    BusyThread& busy = threads_[index(events.track(range))];
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
}

bool BusyThreads::may_wait(TrackId thread, TimeRange time) const {
  constexpr std::int64_t kShortest = 100'000;  // waits of less than that are not looked for
  const std::int64_t ns = time.end - time.start;
  if (ns < kShortest) return false;
  for (std::size_t other = 0; other < threads_.size(); ++other) {
    const std::span<const TimeRange> times = threads_[other].times;
    if (runs_steps_[other] || other == index(thread) || times.empty()) continue;
    if (!are_of_one_process(other, index(thread))) continue;
    const auto after = std::ranges::lower_bound(times, time.end, {}, &TimeRange::start);
    if (after == times.begin()) continue;
    const std::int64_t last = (after - 1)->end;
    if (last > time.end || last < time.end - std::max(kShortest, ns / 10)) continue;
    std::int64_t busy_ns = 0;
    for (auto each = after; each != times.begin() && (each - 1)->end > time.start; --each) {
      busy_ns += (each - 1)->end - std::max((each - 1)->start, time.start);
    }
    if (busy_ns >= ns / 2) return true;
  }
  return false;
}

}  // namespace tbtrace::analyses
