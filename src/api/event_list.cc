#include <utility>

#include <tbtrace/analyses.h>

#include "report/operator_report.h"
#include "report/row_order.h"
#include "wire/json_emitter.h"
#include "writers/torch_table.h"

namespace tbtrace {
namespace {

std::string kernels_json(const FunctionEvent& event) {
  std::string json;
  wire::JsonEmitter emitter(json);
  emitter.begin_array();
  for (const LaunchedKernel& kernel : event.kernels) {
    emitter.begin_array();
    emitter.text(kernel.name);
    emitter.integer(kernel.device_index);
    emitter.number(kernel.duration_us);
    emitter.end_array();
  }
  emitter.end_array();
  return json;
}

Cell tid_cell(const FunctionEvent& event) {
  if (event.tid.empty()) return std::monostate();
  if (event.tid_is_number) return Json{event.tid};
  return event.tid;
}

}  // namespace

std::vector<OperatorRow> EventList::rows() const {
  return std::vector<OperatorRow>(events_.begin(), events_.end());
}

Result<std::string> EventList::table(const TableOptions& options) const {
  OperatorRows rows = shape_;
  rows.rows = this->rows();
  Result<std::vector<std::size_t>> order = report::sorted_rows(rows.rows, options.sort_by);
  if (!order.ok()) return order.status();
  return writers::torch_table(rows, *order, options);
}

Result<Table> EventList::report(const TableOptions& options) const {
  const std::vector<OperatorRow> rows = this->rows();
  Result<std::vector<std::size_t>> order = report::sorted_rows(rows, options.sort_by);
  if (!order.ok()) return order.status();
  Table table;
  // Records of torch's lists leave the memory of devices out of events; under torch's names these
  // two would look like a difference.
  table.columns = {"name",
                   "overload_name",
                   "tid",
                   "start_ns",
                   "end_ns",
                   "parent",
                   "self_cpu_time_ns",
                   "cpu_memory_usage_bytes",
                   "self_cpu_memory_usage_bytes",
                   "device_memory_bytes",
                   "self_device_memory_bytes",
                   "flops",
                   "input_shapes",
                   "stack",
                   "sequence_nr",
                   "is_user_annotation",
                   "is_python_function",
                   "kernels"};
  for (const std::size_t number : report::shown_rows(rows, *std::move(order), options)) {
    const FunctionEvent& event = events_[number];
    Cell parent;
    if (event.parent) parent = static_cast<std::int64_t>(*event.parent);
    Cell sequence;
    if (event.sequence_nr > 0) sequence = event.sequence_nr;
    Cell flops;
    if (event.own_flops) flops = *event.own_flops;
    table.rows.push_back(
        {event.key, event.overload_name, tid_cell(event), event.start_ns, event.end_ns, parent,
         event.self_cpu_time_total.ns, event.cpu_memory_usage_bytes,
         event.self_cpu_memory_usage_bytes, event.device_memory_usage_bytes,
         event.self_device_memory_usage_bytes, flops, report::shapes_cell(event), event.stack,
         sequence, event.is_user_annotation, event.is_python_function, Json{kernels_json(event)}});
  }
  return table;
}

}  // namespace tbtrace
