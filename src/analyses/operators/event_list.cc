// prof.events() with all its rows in memory.
#include <utility>
#include <vector>

#include <tbtrace/operators.h>

#include "analyses/operators/event_rows.h"
#include "report/source_report.h"

namespace tbtrace {

EventList events(const Trace& trace) {
  const Trace* traces[] = {&trace};
  return *events(traces, SameProcess::known);
}

Result<EventList> events(std::span<const Trace* const> traces, SameProcess same_process) {
  if (same_process == SameProcess::checked) {
    if (Status same = check_same_process(traces); !same.ok()) return same;
  }
  analyses::EventRows rows(traces);
  std::vector<FunctionEvent> list;
  list.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) list.push_back(rows.event(row));
  return EventList(std::move(list), rows.facts(), report::source_report(traces));
}

}  // namespace tbtrace
