#include "analyses/compat/hta/links.h"

#include <cstddef>
#include <cstdint>

#include "analyses/compat/hta/rows.h"

namespace tbtrace::analyses {

HtaLinks::HtaLinks(const Trace& trace) : trace_(trace) {
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const std::int64_t id = trace.correlation(event);
    if (id == 0 || is_dropped_by_hta(trace, event)) continue;
    IdMap& rows = is_hta_activity(trace, event) ? activities_ : host_rows_;
    rows.replace(id, static_cast<std::uint32_t>(row));
  }
}

EventId HtaLinks::host_row(EventId activity) const {
  if (!is_hta_activity(trace_, activity)) return EventId::none;
  const std::uint32_t row = host_rows_.find(trace_.correlation(activity));
  return row == IdMap::kNone ? EventId::none : static_cast<EventId>(row);
}

bool HtaLinks::has_activity(EventId host_row) const {
  return !is_hta_activity(trace_, host_row) &&
         activities_.find(trace_.correlation(host_row)) != IdMap::kNone;
}

}  // namespace tbtrace::analyses
