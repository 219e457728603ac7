// Memory use as the rows of `tbtrace.memory/1`.
#include "analyses/memory/report.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/memory.h>

#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

using report::optional_cell;
using report::text_cell;

/// The first column of all rows; finding the rank takes time.
void set_rank(AnalysisReport& report, const Trace& trace) {
  const Cell rank = optional_cell(trace.identity().rank);
  for (std::vector<Cell>& row : report.table.rows) row.front() = rank;
}

Cell time_cell(const std::optional<std::int64_t>& time_ns, std::int64_t origin_ns) {
  return time_ns ? Cell(bounded(WideInteger{*time_ns} - origin_ns)) : Cell();
}

std::string_view totals_name(MemoryTotals totals) {
  switch (totals) {
    case MemoryTotals::recorded:
      return "recorded";
    case MemoryTotals::summed:
      return "summed";
    case MemoryTotals::mixed:
      return "mixed";
  }
  return "";
}

std::string_view end_name(AllocationEnd end) {
  switch (end) {
    case AllocationEnd::freed:
      return "freed";
    case AllocationEnd::held:
      return "held";
    case AllocationEnd::unknown:
      return "unknown";
  }
  return "";
}

std::string_view name_of(MemoryView view) {
  switch (view) {
    case MemoryView::peak:
      break;
    case MemoryView::alive:
      return "alive";
    case MemoryView::curve:
      return "curve";
    case MemoryView::allocations:
      return "allocations";
  }
  return "";
}

/// Whether the category follows from where the memory was allocated and freed; `[before the
/// recording]` and `[unknown]` have none.
bool has_estimated_category(const MemoryHolder& holder) { return holder.allocations > 0; }

Json alive_json(const DeviceMemory& device) {
  Json alive;
  wire::JsonEmitter json(alive.text);
  const auto add = [&](std::string_view key, const std::string& text) {
    json.key(key);
    text.empty() ? json.null() : json.text(text);
  };
  json.begin_array();
  for (const MemoryHolder& holder : device.alive) {
    json.begin_object();
    add("operator", holder.source.op);
    add("module", holder.source.module);
    add("source_line", holder.source.line);
    json.key("category");
    json.text(memory_category_key(holder.source.category));
    json.key("category_estimated");
    json.boolean(has_estimated_category(holder));
    json.key("bytes");
    json.integer(holder.bytes);
    json.key("allocations");
    json.integer(holder.allocations);
    json.end_object();
  }
  json.end_array();
  return alive;
}

void show_peaks(const Trace& trace, const MemoryUse& use, AnalysisReport& report) {
  report.shown = {"rank",
                  "device_name",
                  "peak_bytes",
                  "peak_reserved_bytes",
                  "growth_per_step_bytes",
                  "largest_operator",
                  "largest_bytes",
                  "peak_at_ns"};
  const auto ran_out = [](const DeviceMemory& device) { return device.out_of_memory > 0; };
  if (std::ranges::any_of(use.devices, ran_out)) report.shown.emplace_back("out_of_memory");
  for (const DeviceMemory& device : use.devices) {
    const bool held = !device.alive.empty() && device.alive[0].bytes > 0;
    report.table.rows.push_back(
        {Cell(), device.process, report::device_cell(device.device), device.device,
         device.peak_at_ns ? Cell(device.peak_bytes) : Cell(),
         time_cell(device.peak_at_ns, trace.window_start_ns()),
         optional_cell(device.peak_reserved_bytes), optional_cell(device.fragmentation_bytes),
         optional_cell(device.growth_per_step_bytes),
         held ? Cell(device.alive[0].source.op) : Cell(),
         held ? Cell(device.alive[0].bytes) : Cell(), device.out_of_memory,
         std::string(totals_name(device.totals)), alive_json(device)});
  }
}

/// The largest first, on whatever device.
void show_alive(const MemoryUse& use, AnalysisReport& report) {
  report.shown = {"rank", "device_name", "operator", "bytes", "category", "module", "source_line"};
  std::vector<std::pair<const DeviceMemory*, const MemoryHolder*>> holders;
  for (const DeviceMemory& device : use.devices) {
    for (const MemoryHolder& holder : device.alive) holders.emplace_back(&device, &holder);
  }
  std::ranges::stable_sort(holders, std::ranges::greater(),
                           [](const auto& holder) { return holder.second->bytes; });
  for (const auto& [device, holder] : holders) {
    report.table.rows.push_back(
        {Cell(), device->process, report::device_cell(device->device), device->device,
         holder->source.op, text_cell(holder->source.module), text_cell(holder->source.line),
         std::string(memory_category_key(holder->source.category)), has_estimated_category(*holder),
         holder->bytes, holder->allocations});
  }
}

void show_curve(const Trace& trace, const MemoryUse& use, AnalysisReport& report) {
  report.shown = {"rank", "device_name", "at_ns", "allocated_bytes", "reserved_bytes"};
  for (const DeviceMemory& device : use.devices) {
    for (const MemoryPoint& point : device.curve) {
      report.table.rows.push_back({Cell(), device.process, report::device_cell(device.device),
                                   device.device, time_cell(point.at_ns, trace.window_start_ns()),
                                   point.allocated_bytes, optional_cell(point.reserved_bytes),
                                   std::string(totals_name(device.totals))});
    }
  }
}

void show_allocations(const Trace& trace, const MemoryUse& use, AnalysisReport& report) {
  report.shown = {"rank",  "device_name",     "operator",    "category",
                  "bytes", "allocated_at_ns", "freed_at_ns", "end"};
  for (const MemoryAllocation& allocation : use.allocations) {
    const DeviceMemory& device = use.devices[allocation.device];
    const MemorySource before = {.op = DeviceMemory::kBefore};
    const MemorySource& source = allocation.source ? use.sources[*allocation.source] : before;
    const bool both = allocation.allocated_at_ns && allocation.freed_at_ns;
    report.table.rows.push_back(
        {Cell(), device.process, report::device_cell(device.device), device.device, source.op,
         text_cell(source.module), text_cell(source.line),
         std::string(memory_category_key(source.category)), allocation.source.has_value(),
         allocation.bytes, time_cell(allocation.allocated_at_ns, trace.window_start_ns()),
         time_cell(allocation.freed_at_ns, trace.window_start_ns()),
         both ? Cell(bounded(WideInteger{*allocation.freed_at_ns} - *allocation.allocated_at_ns))
              : Cell(),
         std::string(end_name(allocation.end))});
  }
}

void add_totals(const MemoryUse& use, AnalysisReport& report) {
  WideInteger peak = 0;
  std::uint64_t out_of_memory = 0;
  for (const DeviceMemory& device : use.devices) {
    peak += device.peak_bytes;
    out_of_memory += device.out_of_memory;
  }
  report.totals = {{"peak_bytes", bounded(peak)},
                   {"out_of_memory", out_of_memory},
                   {"allocations", static_cast<std::uint64_t>(use.allocations.size())},
                   {"without_address", use.without_address}};
}

void add_notes(const MemoryUse& use, AnalysisReport& report) {
  if (std::string text = unknown_memory_text(use); !text.empty()) {
    report.notes.push_back(std::move(text));
  }
}

}  // namespace

std::string unknown_memory_text(const MemoryUse& use) {
  const bool has_unknown = std::ranges::any_of(use.devices, [](const DeviceMemory& device) {
    return std::ranges::any_of(device.alive, [](const MemoryHolder& holder) {
      return holder.source.op == DeviceMemory::kUnknown && holder.bytes > 0;
    });
  });
  if (!has_unknown || use.without_address == 0) return {};
  return "[unknown]: " + analyses::without_address_text(use.without_address);
}

std::string analyses::without_address_text(std::uint64_t records) {
  return std::to_string(records) +
         " memory records have no address (torch did not write it in 2021), so which allocation "
         "was freed is not known. Record with a newer torch.";
}

Result<AnalysisReport> memory_report(const Trace& trace, const MemoryOptions& options) {
  if (Status read = trace.check_read(analyses::memory_table().arguments, "memory"); !read.ok()) {
    return read;
  }
  AnalysisReport report;
  report.schema = analyses::memory_table().schema;
  report.source = report::source_report(trace);
  const Result<MemoryUse> found = memory_use(trace, {.steps = options.steps});
  if (!found.ok()) return found.status();
  const MemoryUse& use = *found;
  report.table.columns = analyses::memory_table().column_names(name_of(options.view));
  switch (options.view) {
    case MemoryView::peak:
      show_peaks(trace, use, report);
      add_notes(use, report);
      break;
    case MemoryView::alive:
      show_alive(use, report);
      add_notes(use, report);
      break;
    case MemoryView::curve:
      show_curve(trace, use, report);
      break;
    case MemoryView::allocations:
      show_allocations(trace, use, report);
      break;
  }
  add_totals(use, report);
  set_rank(report, trace);
  return report;
}

}  // namespace tbtrace
