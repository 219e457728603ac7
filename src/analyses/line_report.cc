// Lines of source as the rows of `tbtrace.lines/1`.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/lines.h>

#include "analyses/source_report.h"
#include "report/optional_cell.h"

namespace tbtrace {
namespace {

struct Column {
  const char* name;
  bool is_shown;  ///< in the text for people
  std::int64_t ModuleCost::* value;
};

constexpr Column kCosts[] = {
    {"device_time_total_ns", true, &ModuleCost::device_time_total_ns},
    {"self_device_time_ns", true, &ModuleCost::self_device_time_ns},
    {"backward_device_time_ns", true, &ModuleCost::backward_device_time_ns},
    {"cpu_time_total_ns", true, &ModuleCost::cpu_time_total_ns},
    {"self_cpu_time_ns", true, &ModuleCost::self_cpu_time_ns},
    {"backward_cpu_time_ns", false, &ModuleCost::backward_cpu_time_ns},
    {"cpu_memory_bytes", true, &ModuleCost::cpu_memory_bytes},
    {"device_memory_bytes", true, &ModuleCost::device_memory_bytes},
    {"self_cpu_memory_bytes", false, &ModuleCost::self_cpu_memory_bytes},
    {"self_device_memory_bytes", false, &ModuleCost::self_device_memory_bytes}};

void add_costs(std::vector<Cell>& row, const ModuleCost& cost) {
  for (const Column& column : kCosts) row.emplace_back(cost.*column.value);
  row.emplace_back(cost.macs);
  row.emplace_back(cost.flops);
  row.emplace_back(cost.backward_macs);
  row.emplace_back(cost.backward_flops);
}

}  // namespace

Result<AnalysisReport> line_report(const Trace& trace, const LinesOptions& options) {
  const Result<LineTable> table = line_table(trace, options);
  if (!table.ok()) return table.status();
  AnalysisReport report;
  report.schema = "tbtrace.lines/1";
  report.table.columns = {"rank", "file", "line", "function", "level", "calls"};
  report.shown = {"rank", "file", "line", "function", "level", "calls"};
  for (const Column& column : kCosts) {
    report.table.columns.emplace_back(column.name);
    const bool is_of_device = std::string_view(column.name).find("device") != std::string::npos;
    if (column.is_shown && (!is_of_device || table->total.device_time_total_ns > 0)) {
      report.shown.emplace_back(column.name);
    }
  }
  report.table.columns.insert(report.table.columns.end(), {"macs", "flops", "backward_macs", "backward_flops"});
  report.shown.emplace_back("macs");
  const Cell rank = report::optional_cell(trace.identity().rank);
  for (const LineRow& line : table->lines) {
    std::vector<Cell> row = {rank, line.file, line.line, line.function,
                             std::string(line_level_name(line.level)),
                             line.level == LineLevel::function ? Cell(line.calls) : Cell()};
    add_costs(row, line);
    report.table.rows.push_back(std::move(row));
  }
  if (!table->lines.empty()) {
    std::vector<Cell> row = {rank, std::string("[unattributed]"), {}, {}, {}, {}};
    add_costs(row, table->unattributed);
    report.table.rows.push_back(std::move(row));
  }
  report.totals = {{"device_time_total_ns", table->total.device_time_total_ns},
                   {"backward_device_time_ns", table->total.backward_device_time_ns},
                   {"cpu_time_total_ns", table->total.cpu_time_total_ns},
                   {"backward_cpu_time_ns", table->total.backward_cpu_time_ns},
                   {"cpu_memory_bytes", table->total.cpu_memory_bytes},
                   {"device_memory_bytes", table->total.device_memory_bytes},
                   {"macs", table->total.macs},
                   {"flops", table->total.flops},
                   {"backward_macs", table->total.backward_macs},
                   {"backward_flops", table->total.backward_flops}};
  report.source = analyses::source_report(trace);
  return report;
}

}  // namespace tbtrace
