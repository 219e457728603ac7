// The memory of lines as rows of `tbtrace.lines/1`.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/lines.h>
#include <tbtrace/memory.h>

#include "analyses/attribution/line_places.h"
#include "analyses/memory/report.h"
#include "analyses/modules/lines_report.h"
#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

using Row = std::vector<Cell>;

/// What a row of a device begins with.
Row row_of(const Cell& rank, const DeviceLineMemory& device, std::string file) {
  return {rank, device.process, report::device_cell(device.device), device.device, std::move(file)};
}

void add_bytes(Row& row, const LineBytes& bytes) {
  row.insert(row.end(), {bytes.allocated_bytes, bytes.freed_bytes, bytes.net_bytes()});
}

void add_cells(Row& row, const LineBytes& total, const Cell& peak, const LineBytes& self,
               bool has_addresses) {
  const auto alive = [&](const LineBytes& bytes) {
    return has_addresses ? Cell(bytes.alive_at_peak_bytes) : Cell();
  };
  add_bytes(row, total);
  row.insert(row.end(), {peak, alive(total)});
  add_bytes(row, self);
  row.push_back(alive(self));
}

/// A part of the peak that no record of the trace allocated.
Row rest_of_peak(Row row, std::int64_t bytes) {
  row.resize(row.size() + 8);  // up to the peak of a line
  row.emplace_back(bytes);
  row.resize(row.size() + 3);
  row.emplace_back(bytes);
  row.emplace_back();
  return row;
}

void add_device(AnalysisReport& report, const Cell& rank, const DeviceLineMemory& device,
                bool has_addresses) {
  std::vector<Row>& rows = report.table.rows;
  for (const LineMemoryRow& line : device.lines) {
    Row& row = rows.emplace_back(row_of(rank, device, line.file));
    row.insert(row.end(), {line.line, report::text_cell(line.function),
                           analyses::line_text(line.file, line.line, line.function),
                           std::string(line_level_name(line.level))});
    add_cells(row, line.total, line.peak_bytes, line.self, has_addresses);
    row.push_back(has_addresses ? report::optional_cell(line.self_growth_per_step_bytes) : Cell());
  }
  Row& row = rows.emplace_back(row_of(rank, device, "[unattributed]"));
  row.resize(row.size() + 4);
  add_cells(row, device.unattributed, {}, device.unattributed, has_addresses);
  row.emplace_back();
  const auto add_rest = [&](const char* name, std::int64_t bytes) {
    if (bytes != 0) rows.push_back(rest_of_peak(row_of(rank, device, name), bytes));
  };
  add_rest(DeviceMemory::kBefore, device.before_bytes);
  add_rest(DeviceMemory::kUnknown, device.unknown_bytes);
}

void add_totals(AnalysisReport& report, const LineMemory& memory) {
  for (const bool is_host : {true, false}) {
    bool has_any = false;
    WideInteger allocated = 0;
    WideInteger freed = 0;
    WideInteger peak = 0;
    for (const DeviceLineMemory& device : memory.devices) {
      if (device.is_host != is_host) continue;
      has_any = true;
      allocated += device.total.allocated_bytes;
      freed += device.total.freed_bytes;
      peak += device.peak_bytes;
    }
    const std::string kind = is_host ? "cpu" : "device";
    const auto add = [&](const char* name, WideInteger bytes) {
      report.totals.emplace_back(kind + name, has_any ? Cell(bounded(bytes)) : Cell());
    };
    add("_allocated_bytes", allocated);
    add("_freed_bytes", freed);
    add("_peak_bytes", peak);
  }
  report.totals.emplace_back("without_address", bounded(memory.without_address));
  report.totals_if_any.emplace_back("without_address");
}

}  // namespace

Result<AnalysisReport> analyses::line_memory_report(const Trace& trace,
                                                    const LinesOptions& options) {
  if (Status read = trace.check_read({ArgumentGroup::allocations}, "lines"); !read.ok())
    return read;
  const Result<LineMemory> memory = line_memory(trace, options);
  if (!memory.ok()) return memory.status();
  AnalysisReport report;
  report.schema = lines_table().schema;
  report.table.columns = lines_table().column_names("memory");
  report.shown = {"rank",
                  "device_name",
                  "file",
                  "line",
                  "function",
                  "self_alive_at_peak_bytes",
                  "self_allocated_bytes",
                  "self_freed_bytes",
                  "self_growth_per_step_bytes",
                  "peak_bytes",
                  "alive_at_peak_bytes",
                  "allocated_bytes",
                  "freed_bytes"};
  const Cell rank = report::optional_cell(trace.identity().rank);
  const bool has_addresses = !trace.memory_argument(Argument::address).empty();
  const bool has_lines = std::ranges::any_of(
      memory->devices, [](const DeviceLineMemory& device) { return !device.lines.empty(); });
  for (const DeviceLineMemory& device : memory->devices) {
    if (has_lines) add_device(report, rank, device, has_addresses);
  }
  add_totals(report, *memory);
  if (memory->without_address > 0) {
    report.notes.push_back(without_address_text(memory->without_address));
  }
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace
