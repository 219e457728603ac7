#include "analyses/attribution/own_lines.h"

#include <algorithm>

#include "analyses/attribution/communication.h"
#include "analyses/attribution/owners.h"
#include "trace/call_tree.h"

namespace tbtrace::analyses {

OwnLines::OwnLines(const Trace& trace, const ForwardOperators& forward)
    : trace_(trace), places_(trace, false), where_(find_line_places(trace, forward, places_)) {
  const bool has_hooks = std::find(where_.accumulates.begin(), where_.accumulates.end(), 1) !=
                         where_.accumulates.end();
  if (has_hooks) communicates_ = communication_work(trace);
}

EventId OwnLines::owner_of(const DeviceLink& link) const {
  const EventId owner = owner_of_work(call_tree_of(trace_), link);
  const bool is_of_hook = !communicates_.empty() && owner != EventId::none &&
                          where_.accumulates[index(owner)] != 0 &&
                          communicates_[index(link.activity)];
  return is_of_hook ? EventId::none : owner;
}

std::string OwnLines::text(Line line) const {
  if (line == 0) return {};
  const PlaceLine& row = places_.rows()[line];
  return line_text(row.file, row.line, row.function);
}

}  // namespace tbtrace::analyses
