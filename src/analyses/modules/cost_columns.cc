#include "analyses/modules/cost_columns.h"

#include <cstdint>
#include <string_view>

namespace tbtrace::analyses {
namespace {

/// What a trace has to have for people to see a column.
enum class ShownIf : std::uint8_t {
  anything,
  device,
  no_device,
  memory_without_device,
  memory_of_device,
  never,
};

struct SizeColumn {
  const char* name;
  ShownIf shown_if;
  bool is_total;  ///< is a total of the report
  std::int64_t ModuleCost::*value;

  bool is_memory() const { return std::string_view(name).ends_with("_bytes"); }
};

constexpr SizeColumn kSizes[] = {
    {"device_time_total_ns", ShownIf::device, true, &ModuleCost::device_time_total_ns},
    {"self_device_time_ns", ShownIf::device, false, &ModuleCost::self_device_time_ns},
    {"backward_device_time_ns", ShownIf::device, true, &ModuleCost::backward_device_time_ns},
    {"cpu_time_total_ns", ShownIf::anything, true, &ModuleCost::cpu_time_total_ns},
    {"self_cpu_time_ns", ShownIf::no_device, false, &ModuleCost::self_cpu_time_ns},
    {"backward_cpu_time_ns", ShownIf::no_device, true, &ModuleCost::backward_cpu_time_ns},
    {"cpu_memory_bytes", ShownIf::memory_without_device, true, &ModuleCost::cpu_memory_bytes},
    {"device_memory_bytes", ShownIf::memory_of_device, true, &ModuleCost::device_memory_bytes},
    {"self_cpu_memory_bytes", ShownIf::never, false, &ModuleCost::self_cpu_memory_bytes},
    {"self_device_memory_bytes", ShownIf::never, false, &ModuleCost::self_device_memory_bytes}};

struct CountColumn {
  const char* name;
  bool is_shown;
  std::uint64_t ModuleCost::*value;
};

constexpr CountColumn kCounts[] = {{"macs", true, &ModuleCost::macs},
                                   {"flops", false, &ModuleCost::flops},
                                   {"backward_macs", false, &ModuleCost::backward_macs},
                                   {"backward_flops", false, &ModuleCost::backward_flops}};

bool is_there(ShownIf condition, const CostColumns& columns) {
  switch (condition) {
    case ShownIf::anything:
      break;
    case ShownIf::device:
      return columns.has_device;
    case ShownIf::no_device:
      return !columns.has_device;
    case ShownIf::memory_without_device:
      return columns.has_memory && !columns.has_device;
    case ShownIf::memory_of_device:
      return columns.has_memory && columns.has_device;
    case ShownIf::never:
      return false;
  }
  return true;
}

}  // namespace

std::vector<ColumnDescription> with_cost_totals(std::string_view more) {
  std::vector<ColumnDescription> columns = columns_in(R"(
device_time_total_ns | integer | all kernels, memcpys and memsets
backward_device_time_ns | integer | the part in backward passes
cpu_time_total_ns | integer | busy time of all host threads, without `waiting_cpu_time_ns`
backward_cpu_time_ns | integer | the part in backward passes
cpu_memory_bytes | integer or null | host memory allocated less freed; null if no memory was recorded
device_memory_bytes | integer or null | device memory allocated less freed
macs | integer or null | multiply-adds
flops | integer or null | operations
backward_macs | integer or null | the part in backward passes
backward_flops | integer or null | the part in backward passes
)");
  for (const ColumnDescription& column : columns_in(more)) columns.push_back(column);
  return columns;
}

CostColumns CostColumns::of(const Trace& trace, bool has_shapes, const ModuleCost& total) {
  return {.has_shapes = has_shapes,
          .has_device = total.device_time_total_ns > 0,
          .has_memory = !trace.memory().empty()};
}

void CostColumns::show(AnalysisReport& report) const {
  for (const SizeColumn& column : kSizes) {
    if (is_there(column.shown_if, *this)) report.shown.emplace_back(column.name);
  }
  for (const CountColumn& column : kCounts) {
    if (column.is_shown) report.shown.emplace_back(column.name);
  }
}

void CostColumns::add_cells(std::vector<Cell>& row, const ModuleCost& cost) const {
  for (const SizeColumn& column : kSizes) {
    Cell& cell = row.emplace_back();
    if (has_memory || !column.is_memory()) cell = cost.*column.value;
  }
  for (const CountColumn& column : kCounts) {
    Cell& cell = row.emplace_back();
    if (has_shapes) cell = cost.*column.value;
  }
}

AnalysisReport::Totals CostColumns::totals(const ModuleCost& total) const {
  AnalysisReport::Totals totals;
  for (const SizeColumn& column : kSizes) {
    if (!column.is_total) continue;
    Cell& cell = totals.emplace_back(column.name, Cell()).second;
    if (has_memory || !column.is_memory()) cell = total.*column.value;
  }
  for (const CountColumn& column : kCounts) {
    Cell& cell = totals.emplace_back(column.name, Cell()).second;
    if (has_shapes) cell = total.*column.value;
  }
  return totals;
}

void add_waiting(AnalysisReport& report, std::int64_t waiting_ns) {
  constexpr const char* kName = "waiting_cpu_time_ns";
  report.totals.emplace_back(kName, waiting_ns);
  report.totals_if_any.emplace_back(kName);
  if (waiting_ns == 0) return;
  report.notes.emplace_back(
      "CPU times are those of the threads of the steps and of autograd, and what other threads "
      "did. "
      "The time in which other threads waited (waiting cpu time) is in no row and no total.");
}

}  // namespace tbtrace::analyses
