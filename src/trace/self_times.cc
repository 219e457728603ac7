#include "trace/self_times.h"

#include <algorithm>

#include "trace/innermost_ranges.h"

namespace tbtrace {

SelfTimes::SelfTimes(const Trace& trace, const CallTree& tree, std::int64_t from,
                     std::int64_t until)
    : busy_ns_(trace.tracks().size(), 0) {
  ns_.resize(trace.events().size(), 0);
  visit_innermost_ranges(trace, tree, [&](EventId range, TimeRange time) {
    const std::int64_t first = std::max(time.start, from);
    const std::int64_t counted = std::max(first, std::min(time.end, until)) - first;
    ns_[index(range)] += counted;
    busy_ns_[index(trace.events().track(range))] += counted;
  });
}

}  // namespace tbtrace
