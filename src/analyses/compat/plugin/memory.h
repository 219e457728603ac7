// Memory as torch-tb-profiler's memory view shows it: its tree, allocations paired by address
// alone. Results own their texts. Source: kineto tb_plugin, profiler/memory_parser.py and
// run_generator.py, at 94979607^.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/memory.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// An allocation in the plugin's memory events.
struct PluginMemoryEvent {
  std::string device;  ///< `CPU`, `GPU0`
  std::string op;      ///< `aten::addmm (aten::empty)`, `<unknown>`
  std::int64_t bytes = 0;
  std::optional<std::int64_t> allocated_at_ns;
  std::optional<std::int64_t> freed_at_ns;
};

/// An operator in the plugin's memory statistics.
struct PluginMemoryRow {
  std::string device;
  std::string op;
  std::int64_t calls = 0;
  std::int64_t increase_bytes = 0;
  std::int64_t self_increase_bytes = 0;
  std::int64_t allocations = 0;
  std::int64_t self_allocations = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t self_allocated_bytes = 0;
};

/// A point of the plugin's curves: a record with an address and both totals.
struct PluginMemoryPoint {
  std::string device;
  std::int64_t at_ns = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
};

struct PluginMemory {
  std::vector<PluginMemoryEvent> events;  ///< in the plugin's order
  std::vector<PluginMemoryRow> rows;      ///< by device, then by operator
  std::vector<PluginMemoryPoint> curve;   ///< by time
};
PluginMemory plugin_memory(const Trace& trace);

/// Rows of `tbtrace.memory/1`: the events for MemoryView::allocations, the statistics for
/// MemoryView::alive and peak, and for the curve only the records that the plugin draws. Times are
/// since the first row of the file. Fails if steps are chosen.
Result<AnalysisReport> plugin_memory_report(const Trace& trace, const MemoryOptions& options = {});

}  // namespace tbtrace::analyses
