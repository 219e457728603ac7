#include "analyses/modules/range_origins.h"

#include <tbtrace/lines.h>
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

LinesOfRanges::LinesOfRanges(const Trace& trace, const ForwardOperators& forward)
    : places_(trace, false) {
  where_ = find_line_places(trace, forward, places_);
}

std::string LinesOfRanges::text(LinePlaces::Line line) const {
  if (line == 0) return {};
  const LineRow& row = places_.rows()[line];
  std::string text = row.file + "(" + std::to_string(row.line) + ")";
  return row.function.empty() ? text : text + ": " + row.function;
}

}  // namespace tbtrace::analyses
