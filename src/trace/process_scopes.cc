#include "trace/process_scopes.h"

#include <map>
#include <utility>

namespace tbtrace {

ProcessScopes::ProcessScopes(const Trace& trace) {
  const Events& events = trace.events();
  std::map<std::pair<std::int64_t, std::size_t>, std::uint32_t> scopes;  // by process id
  std::vector<bool> is_known(trace.tracks().size(), false);
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const std::size_t track = index(events.track(event));
    if (is_known[track] || !is_of_process(trace.kind(event))) continue;
    if (trace.external_id(event) == 0 && trace.correlation(event) == 0) continue;
    is_known[track] = true;
    const TrackKey& process = trace.tracks()[track].process;
    scopes.try_emplace({process.number, index(process.text)},
                       static_cast<std::uint32_t>(scopes.size()));
  }
  count_ = scopes.size();
  if (is_single()) return;
  scope_.reserve(trace.tracks().size());
  for (const Track& track : trace.tracks()) {
    const auto found = scopes.find({track.process.number, index(track.process.text)});
    scope_.push_back(found == scopes.end() ? kUnknown : found->second);
  }
}

}  // namespace tbtrace
