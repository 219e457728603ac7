#include <algorithm>
#include <tuple>
#include <utility>

#include <tbtrace/lines.h>

#include "analyses/attribution/line_places.h"
#include "analyses/modules/lines_report.h"
#include "analyses/modules/place_costs.h"
#include "analyses/modules/place_totals.h"
#include "analyses/modules/work_places.h"
#include "trace/call_tree.h"

namespace tbtrace {
namespace {

using analyses::LinePlaces;
using analyses::PlaceWork;

LineTable build(const Trace& trace, bool libraries, const analyses::CountsRange& counts) {
  LinePlaces places(trace, libraries);
  const analyses::WorkPlaces where =
      analyses::find_line_places(trace, analyses::ForwardOperators(trace), places);
  analyses::WorkByPlace done = analyses::work_by_place(trace, where, places.size(), counts);
  std::vector<PlaceWork>& work = done.work;
  analyses::add_operations(work, trace, where, counts);
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (places.is_call(range) && (!counts || counts(range))) {
      ++work[where.place[index(range)]].calls;
    }
  }
  const std::vector<PlaceWork> totals = analyses::totals_of(places.parents(), work);
  const std::vector<PlaceWork> by_line =
      analyses::totals_by_key(places.parents(), totals, places.lines(), places.rows().size());
  const std::vector<PlaceWork> own =
      analyses::own_by_key(work, places.lines(), places.rows().size());

  LineTable table;
  table.has_shapes = !trace.argument(Argument::input_dims).empty();
  table.unattributed = analyses::cost_of(own.front(), own.front());
  table.communication = analyses::cost_of(done.communication, done.communication);
  PlaceWork every = totals.front();
  every += done.communication;
  table.total = analyses::cost_of(every, every);
  table.waiting_ns = bounded(done.waiting_ns);
  for (LinePlaces::Line line = 1; line < places.rows().size(); ++line) {
    LineRow& row = table.lines.emplace_back();
    const analyses::PlaceLine& place = places.rows()[line];
    row.file = place.file;
    row.line = place.line;
    row.function = place.function;
    row.level = place.is_function ? LineLevel::function : LineLevel::line;
    static_cast<ModuleCost&>(row) = analyses::cost_of(own[line], by_line[line]);
    row.calls = own[line].calls;
  }
  analyses::sort_lines(table.lines);
  return table;
}

}  // namespace

void analyses::sort_lines(std::vector<LineRow>& lines) {
  std::ranges::sort(lines, [](const LineRow& one, const LineRow& two) {
    return std::tie(two.self_device_time_ns, two.self_cpu_time_ns, one.file, one.line, one.function,
                    one.level) < std::tie(one.self_device_time_ns, one.self_cpu_time_ns, two.file,
                                          two.line, two.function, two.level);
  });
}

const char* line_level_name(LineLevel level) {
  return level == LineLevel::line ? "line" : "function";
}

Result<LineTable> line_table(const Trace& trace, const LinesOptions& options) {
  LineTable table;
  const Status chosen =
      analyses::with_steps(trace, options.steps, [&](const analyses::CountsRange& counts) {
        table = build(trace, options.libraries, counts);
      });
  return chosen.ok() ? Result<LineTable>(std::move(table)) : Result<LineTable>(chosen);
}

}  // namespace tbtrace
