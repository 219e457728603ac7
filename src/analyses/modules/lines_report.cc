// Lines of source as the rows of `tbtrace.lines/1`.
#include "analyses/modules/lines_report.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/lines.h>

#include "analyses/attribution/line_places.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {

AnalysisReport analyses::line_report_of(const LineTable& table, const CostColumns& columns,
                                        std::optional<std::int64_t> rank, SourceReport source) {
  AnalysisReport report;
  report.schema = lines_table().schema;
  report.table.columns = lines_table().column_names();
  report.shown = {"rank", "file", "line", "function", "calls"};
  columns.show(report);
  // The lines are sorted by their own time, so it comes before the other times.
  const auto own = std::ranges::find_if(
      report.shown, [](std::string_view column) { return column.starts_with("self_"); });
  const auto calls = std::ranges::find(report.shown, "calls");
  if (own != report.shown.end()) std::rotate(calls + 1, own, own + 1);
  const Cell of_rank = report::optional_cell(rank);
  for (const LineRow& line : table.lines) {
    std::vector<Cell> row = {of_rank,
                             line.file,
                             line.line,
                             report::text_cell(line.function),
                             analyses::line_text(line.file, line.line, line.function),
                             std::string(line_level_name(line.level)),
                             line.level == LineLevel::function ? Cell(line.calls) : Cell()};
    columns.add_cells(row, line);
    report.table.rows.push_back(std::move(row));
  }
  const auto add_rest = [&](std::string name, const ModuleCost& cost) {
    std::vector<Cell> row = {of_rank, std::move(name), {}, {}, {}, {}, {}};
    columns.add_cells(row, cost);
    report.table.rows.push_back(std::move(row));
  };
  if (!table.lines.empty()) {
    if (table.communication.device_time_total_ns > 0) {
      add_rest("[communication]", table.communication);
    }
    add_rest("[unattributed]", table.unattributed);
  }
  report.totals = columns.totals(table.total);
  add_waiting(report, table.waiting_ns);
  report.source = std::move(source);
  return report;
}

Result<AnalysisReport> lines_report(const Trace& trace, const LinesOptions& options) {
  if (Status read = trace.check_read(analyses::lines_table().arguments, "lines"); !read.ok()) {
    return read;
  }
  if (options.view == LineView::memory) return analyses::line_memory_report(trace, options);
  const Result<LineTable> table = line_table(trace, options);
  if (!table.ok()) return table.status();
  return analyses::line_report_of(*table,
                                  analyses::CostColumns::of(trace, table->has_shapes, table->total),
                                  trace.identity().rank, report::source_report(trace));
}

}  // namespace tbtrace
