// A step breakdown as a neutral table.
#include <algorithm>
#include <array>
#include <utility>

#include <tbtrace/step_breakdown.h>

namespace tbtrace {
namespace {

/// The device type's name, and the device index.
std::string label(const StepMemoryDevice& device) {
  const std::string type = device_type_key(device.type);
  return device.id < 0 ? type : type + "_" + std::to_string(device.id);
}

std::vector<std::string> columns_of(const StepBreakdown& breakdown) {
  std::vector<std::string> columns = {"step", "number", "start_ns", "end_ns", "duration_ns"};
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    columns.push_back(std::string(step_role_name(static_cast<StepRole>(role))) + "_ns");
  }
  columns.emplace_back("launched");
  for (const std::int64_t device : breakdown.devices) {
    columns.push_back("device_" + std::to_string(device) + "_utilization");
  }
  for (const StepMemoryDevice& device : breakdown.memory_devices) {
    columns.push_back(label(device) + "_peak_memory_bytes");
  }
  return columns;
}

Cell optional_cell(const std::optional<std::int64_t>& value) {
  Cell cell;
  if (value) cell = *value;
  return cell;
}

std::vector<Cell> row_of(const StepTime& step) {
  std::vector<Cell> row = {step.name, step.number, step.start_ns, step.end_ns, step.duration_ns()};
  row.insert(row.end(), step.role_ns.begin(), step.role_ns.end());
  row.emplace_back(step.launched);
  for (std::size_t device = 0; device < step.busy_ns.size(); ++device) {
    row.emplace_back(step.utilization(device));
  }
  for (const std::optional<std::int64_t>& peak : step.peak_memory_bytes) {
    row.push_back(optional_cell(peak));
  }
  return row;
}

std::vector<Cell> average_of(const StepBreakdown& breakdown) {
  std::vector<Cell> row = {std::string("[average]"), {}, {}, {}, breakdown.mean_duration_ns()};
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    row.emplace_back(breakdown.mean_ns(static_cast<StepRole>(role)));
  }
  double launched = 0;
  for (const StepTime& step : breakdown.steps) launched += static_cast<double>(step.launched);
  row.emplace_back(launched / static_cast<double>(breakdown.steps.size()));
  for (std::size_t device = 0; device < breakdown.devices.size(); ++device) {
    row.emplace_back(breakdown.utilization(device));
  }
  for (std::size_t device = 0; device < breakdown.memory_devices.size(); ++device) {
    std::optional<std::int64_t> peak;
    for (const StepTime& step : breakdown.steps) {
      peak = std::max(peak, step.peak_memory_bytes[device]);
    }
    row.push_back(optional_cell(peak));
  }
  return row;
}

}  // namespace

std::string_view step_role_name(StepRole role) {
  constexpr std::array<std::string_view, kStepRoles> kNames = {
      "kernel", "memcpy", "memset", "communication", "runtime", "data_loader", "cpu_op", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

Table StepBreakdown::table() const {
  Table table;
  table.columns = columns_of(*this);
  for (const StepTime& step : steps) table.rows.push_back(row_of(step));
  if (!steps.empty()) table.rows.push_back(average_of(*this));
  return table;
}

}  // namespace tbtrace
