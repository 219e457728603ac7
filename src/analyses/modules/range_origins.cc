#include "analyses/modules/range_origins.h"

#include <tbtrace/modules.h>

#include "analyses/modules/groups.h"
#include "analyses/modules/places.h"

namespace tbtrace::analyses {

ModulesOfRanges::ModulesOfRanges(const Trace& trace, const ForwardOperators& forward) {
  if (!has_modules(trace)) return;
  ModulePlaces places(trace);
  where_ = find_places(trace, forward, [&](Place around, EventId range, bool is_backward) {
    return places.place_in(around, range, is_backward);
  });
  std::vector<ModuleRow> rows;
  for (Place place = 1; place < places.size(); ++place) {
    ModuleRow& row = rows.emplace_back();
    row.path = places.path(place);
    row.type = places.type(place);
    if (places.parent(place) != StackTree::kRoot) row.parent = places.parent(place) - 1;
  }
  patterns_ = layer_patterns(rows);
}

std::string_view ModulesOfRanges::of(EventId range) const {
  if (patterns_.empty() || range == EventId::none) return {};
  const Place place = where_.place[index(range)];
  return place == StackTree::kRoot ? std::string_view() : patterns_[place - 1];
}

}  // namespace tbtrace::analyses
