#include "analyses/path/host_time.h"

#include "trace/call_tree.h"
#include "trace/self_times.h"

namespace tbtrace::analyses {

HostTime::HostTime(const Trace& trace) {
  const Events& events = trace.events();
  const CallTree& tree = call_tree_of(trace);
  const auto all = [](EventId) { return true; };
  // The walk goes from thread to thread, and each thread's stretches come by time.
  std::vector<std::size_t> counts(trace.tracks().size() + 1, 0);
  for_each_own_time(trace, tree, all, [&](EventId range, std::int64_t, std::int64_t) {
    ++counts[index(events.track(range)) + 1];
  });
  for (std::size_t thread = 1; thread < counts.size(); ++thread) {
    counts[thread] += counts[thread - 1];
  }
  first_ = counts;
  stretches_.resize(counts.back(), {});
  for_each_own_time(trace, tree, all, [&](EventId range, std::int64_t start, std::int64_t end) {
    stretches_[counts[index(events.track(range))]++] = {start, end, range};
  });
}

}  // namespace tbtrace::analyses
