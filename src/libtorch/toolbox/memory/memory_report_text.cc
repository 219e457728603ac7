// A memory report as rows, as a table and as JSON.
#include <ostream>
#include <utility>

#include <tbtrace/memory_reporter.h>

#include "libtorch/toolbox/layers/summary_styles.h"
#include "report/optional_cell.h"
#include "wire/json_text.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace {
namespace {

constexpr const char* kMemorySchema = "tbtrace.memory_report/1";

std::string size_text(std::uint64_t bytes) {
  return writers::shown_cell("memory_bytes", Cell(bytes));
}

std::string size_text(std::int64_t bytes) {
  return writers::shown_cell("memory_bytes", Cell(bytes));
}

std::string device_line(const DeviceTensors& device) {
  std::string line = device.device + ": " + size_text(device.tensor_bytes) + " of tensors";
  if (device.allocated_bytes) {
    line += ", " + size_text(*device.allocated_bytes) + " allocated";
    if (const auto other = device.other_bytes()) {
      line += " (" + size_text(*other) + " for others)";
    }
  }
  if (device.reserved_bytes) line += ", " + size_text(*device.reserved_bytes) + " reserved";
  return line + ".";
}

}  // namespace

std::string_view tensor_role_name(TensorRole role) {
  switch (role) {
    case TensorRole::parameter:
      return "parameter";
    case TensorRole::buffer:
      return "buffer";
    case TensorRole::gradient:
      return "gradient";
    case TensorRole::optimizer_state:
      return "optimizer_state";
    case TensorRole::other:
      break;
  }
  return "other";
}

std::optional<std::int64_t> DeviceTensors::other_bytes() const {
  if (!allocated_bytes) return std::nullopt;
  return static_cast<std::int64_t>(*allocated_bytes) - static_cast<std::int64_t>(tensor_bytes);
}

std::uint64_t MemoryReport::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const HeldTensor& tensor : tensors) bytes += tensor.storage_bytes;
  return bytes;
}

std::uint64_t MemoryReport::bytes_of(TensorRole role) const {
  std::uint64_t bytes = 0;
  for (const HeldTensor& tensor : tensors) {
    if (tensor.role == role) bytes += tensor.storage_bytes;
  }
  return bytes;
}

std::optional<double> MemoryReport::growth_per_step_bytes() const {
  if (steps == 0) return std::nullopt;
  std::int64_t growth = 0;
  for (const HeldTensor& tensor : tensors) growth += tensor.growth_bytes;
  return static_cast<double>(growth) / static_cast<double>(steps);
}

AnalysisReport MemoryReport::report() const {
  AnalysisReport report;
  report.schema = kMemorySchema;
  report.table.columns = {"path",          "role",      "sizes",        "type",       "device",
                          "storage_bytes", "own_bytes", "growth_bytes", "shares_with"};
  report.shown = report.table.columns;
  for (const HeldTensor& tensor : tensors) {
    report.table.rows.push_back(
        {tensor.path, std::string(tensor_role_name(tensor.role)),
         libtorch::sizes_text(tensor.shape.sizes), tensor.shape.type, tensor.device,
         tensor.storage_bytes, tensor.bytes,
         tensor.growth_bytes == 0 && steps == 0 ? Cell() : Cell(tensor.growth_bytes),
         report::text_cell(tensor.shares_with)});
  }
  report.totals = {{"storage_bytes", total_bytes()}};
  for (const DeviceTensors& device : devices) report.notes.push_back(device_line(device));
  if (resident_bytes) {
    report.notes.push_back("resident memory of the process: " + size_text(*resident_bytes) + ".");
  }
  if (const auto growth = growth_per_step_bytes()) {
    report.notes.push_back("Growth over " + std::to_string(steps) + " steps: " +
                           size_text(static_cast<std::int64_t>(*growth)) + " per step.");
  }
  report.notes.emplace_back("Bytes are counted from the tensors, each storage once.");
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  return report;
}

std::string MemoryReport::table() const { return *report_text(report()); }

std::string MemoryReport::json() const {
  std::string list = "[";
  const auto number = [](const auto& value) {
    return value ? std::to_string(*value) : std::string("null");
  };
  for (const DeviceTensors& device : devices) {
    if (list.size() > 1) list += ',';
    list += "{\"device\":";
    wire::append_json_string(list, device.device);
    list += ",\"tensor_bytes\":" + std::to_string(device.tensor_bytes) +
            ",\"allocated_bytes\":" + number(device.allocated_bytes) +
            ",\"reserved_bytes\":" + number(device.reserved_bytes) +
            ",\"other_bytes\":" + number(device.other_bytes()) + "}";
  }
  list += ']';
  std::string texts = "[";
  for (const std::string& note : notes) {
    if (texts.size() > 1) texts += ',';
    wire::append_json_string(texts, note);
  }
  texts += ']';
  return table_json(kMemorySchema, report().table,
                    {{"devices", list},
                     {"total_bytes", std::to_string(total_bytes())},
                     {"resident_bytes", number(resident_bytes)},
                     {"steps", std::to_string(steps)},
                     {"growth_per_step_bytes", number(growth_per_step_bytes())},
                     {"sources", R"({"tensors":"counted","allocator":")" +
                                     std::string(!devices.empty() && devices.front().allocated_bytes
                                                     ? "measured"
                                                     : "not recorded") +
                                     R"(","resident":"measured"})"},
                     {"notes", texts}});
}

std::ostream& operator<<(std::ostream& out, const MemoryReport& report) {
  return out << report.table();
}

}  // namespace tbtrace
