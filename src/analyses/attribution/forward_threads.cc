#include "analyses/attribution/forward_threads.h"

#include "base/id_map.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {

ForwardThreads::ForwardThreads(const Trace& trace)
    : trace_(trace), tracks_(links_of(trace).scopes()) {
  // Backward operators by thread and start.
  IdMap backward_at;
  trace.argument(Argument::forward_thread).for_each([&](EventId event) {
    if (forward_thread(trace, event) <= 0) return;
    backward_at.insert(place_key(trace.events().track(event), trace.events().start_ns(event)),
                       static_cast<std::uint32_t>(event));
  });
  if (backward_at.size() == 0) return;
  const Links& links = links_of(trace);
  ScopedIds starts(links.scopes());
  for (const FlowEnd& end : trace.flows()) {
    if (end.type != FlowEnd::Type::forward_backward || !end.start) continue;
    starts.insert(links.scope(end.track), end.id, index(end.track));
  }
  for (const FlowEnd& end : trace.flows()) {
    if (end.type != FlowEnd::Type::forward_backward || end.start) continue;
    const std::uint32_t row = backward_at.find(place_key(end.track, end.time_ns));
    const std::uint32_t scope = links.scope(end.track);
    const std::uint32_t start = starts.find(scope, end.id);
    if (row != IdMap::kNone && start != ScopedIds::kNone) {
      tracks_.insert(scope, forward_thread(trace, static_cast<EventId>(row)), start);
    }
  }
}

bool ForwardThreads::find(EventId backward, TrackId& track) const {
  const std::int64_t number = forward_thread(trace_, backward);
  if (number <= 0) return false;
  const std::uint32_t scope = links_of(trace_).scope(trace_.events().track(backward));
  const std::uint32_t found = tracks_.find(scope, number);
  if (found == ScopedIds::kNone) return false;
  track = static_cast<TrackId>(found);
  return true;
}

}  // namespace tbtrace::analyses
