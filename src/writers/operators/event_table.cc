#include "writers/operators/event_table.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "wire/json_emitter.h"
#include "writers/tables/json_members.h"
#include "writers/tables/table_formats.h"
#include "writers/tables/torch_table.h"

namespace tbtrace::writers {
namespace {

/// The cell as a T; reuses its memory if it already is one.
template <typename T>
T& as(Cell& cell) {
  T* value = std::get_if<T>(&cell);
  return value != nullptr ? *value : cell.emplace<T>();
}

void set_kernels(const std::vector<LaunchedKernel>& kernels, std::string& json) {
  json.clear();
  wire::JsonEmitter emitter(json);
  emitter.begin_array();
  for (const LaunchedKernel& kernel : kernels) {
    emitter.begin_array();
    emitter.text(kernel.name);
    emitter.integer(kernel.device_index);
    emitter.number(kernel.duration_us);
    emitter.end_array();
  }
  emitter.end_array();
}

void set_thread(const FunctionEvent& event, Cell& cell) {
  if (event.tid.empty()) {
    cell = std::monostate();
  } else if (event.tid_is_number) {
    as<Json>(cell).text = event.tid;
  } else {
    cell = event.tid;
  }
}

// torch leaves device memory out of its events, so under torch's column names these two would look
// like a difference.
struct EventColumn {
  const char* name;
  void (*set)(const FunctionEvent& event, Cell& cell);
};

constexpr EventColumn kColumns[] = {
    {"name", [](const FunctionEvent& e, Cell& cell) { cell = e.key; }},
    {"overload_name", [](const FunctionEvent& e, Cell& cell) { cell = e.overload_name; }},
    {"tid", set_thread},
    {"start_ns", [](const FunctionEvent& e, Cell& cell) { cell = e.start_ns; }},
    {"end_ns", [](const FunctionEvent& e, Cell& cell) { cell = e.end_ns; }},
    {"parent",
     [](const FunctionEvent& e, Cell& cell) {
       cell = e.parent ? Cell(static_cast<std::int64_t>(*e.parent)) : Cell();
     }},
    {"step", [](const FunctionEvent& e, Cell& cell) { cell = e.step ? Cell(*e.step) : Cell(); }},
    {"self_cpu_time_ns",
     [](const FunctionEvent& e, Cell& cell) { cell = e.self_cpu_time_total.ns; }},
    {"cpu_memory_usage_bytes",
     [](const FunctionEvent& e, Cell& cell) { cell = e.cpu_memory_usage_bytes; }},
    {"self_cpu_memory_usage_bytes",
     [](const FunctionEvent& e, Cell& cell) { cell = e.self_cpu_memory_usage_bytes; }},
    {"device_memory_bytes",
     [](const FunctionEvent& e, Cell& cell) { cell = e.device_memory_usage_bytes; }},
    {"self_device_memory_bytes",
     [](const FunctionEvent& e, Cell& cell) { cell = e.self_device_memory_usage_bytes; }},
    {"flops",
     [](const FunctionEvent& e, Cell& cell) { cell = e.own_flops ? Cell(*e.own_flops) : Cell(); }},
    {"input_shapes",
     [](const FunctionEvent& e, Cell& cell) {
       as<Json>(cell).text = e.input_shapes.empty() ? "[]" : e.input_shapes;
     }},
    {"stack", [](const FunctionEvent& e, Cell& cell) { cell = e.stack; }},
    {"sequence_nr", [](const FunctionEvent& e,
                       Cell& cell) { cell = e.sequence_nr > 0 ? Cell(e.sequence_nr) : Cell(); }},
    {"is_user_annotation", [](const FunctionEvent& e, Cell& cell) { cell = e.is_user_annotation; }},
    {"is_python_function", [](const FunctionEvent& e, Cell& cell) { cell = e.is_python_function; }},
    {"kernels",
     [](const FunctionEvent& e, Cell& cell) { set_kernels(e.kernels, as<Json>(cell).text); }},
};

}  // namespace

EventTable::EventTable(analyses::EventSource& events, const report::RowOrder& order,
                       const TableOptions& options)
    : events_(events), shown_(events, order, options), cells_(std::size(kColumns)) {
  for (const EventColumn& column : kColumns) columns_.emplace_back(column.name);
}

const std::vector<Cell>* EventTable::next() {
  const std::optional<std::size_t> number = shown_.next();
  if (!number) return nullptr;
  const FunctionEvent& event = events_.event(*number);
  for (std::size_t column = 0; column < std::size(kColumns); ++column) {
    kColumns[column].set(event, cells_[column]);
  }
  return &cells_;
}

void write_event_table(analyses::EventSource& events, const report::RowOrder& order,
                       const SourceReport& source, TableFormat format, const TableOptions& options,
                       io::TextSink& out) {
  EventTable table(events, order, options);
  switch (format) {
    case TableFormat::text:
      return writers::write_torch_table(events, order, options, out);
    case TableFormat::csv:
      return writers::write_csv(table, out);
    case TableFormat::markdown:
      return writers::write_markdown(table, out);
    case TableFormat::json:
      return writers::write_json(kOperatorSchema, table,
                                 {{"issues", issues_json(source)}, {"links", links_json(source)}},
                                 out);
  }
}

}  // namespace tbtrace::writers
