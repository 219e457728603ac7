#include "trace/self_times.h"

#include <algorithm>

namespace tbtrace {

SelfTimes::SelfTimes(const Trace& trace, const CallTree& tree, std::int64_t from,
                     std::int64_t until)
    : busy_ns_(trace.tracks().size(), 0) {
  ns_.resize(trace.events().size(), 0);
  const Events& events = trace.events();
  for_each_own_time(
      trace, tree, [](EventId /*range*/) { return true; },
      [&](EventId range, std::int64_t start, std::int64_t end) {
        const std::int64_t first = std::max(start, from);
        const std::int64_t counted = std::max(first, std::min(end, until)) - first;
        ns_[index(range)] += counted;
        busy_ns_[index(events.track(range))] += counted;
      });
}

}  // namespace tbtrace
