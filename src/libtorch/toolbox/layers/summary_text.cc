// A model summary as tables and as JSON.
#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <tbtrace/model_summary.h>

#include "libtorch/toolbox/layers/figure_sources.h"
#include "libtorch/toolbox/layers/summary_styles.h"
#include "report/optional_cell.h"
#include "wire/json_text.h"

namespace tbtrace {
namespace {

using report::optional_cell;

constexpr const char* kSchema = "tbtrace.model_summary/1";

std::string shapes_text(const std::vector<TensorShape>& shapes) {
  std::string text;
  for (const TensorShape& shape : shapes) {
    if (!text.empty()) text += ", ";
    text += libtorch::sizes_text(shape.sizes);
  }
  return text;
}

Cell shapes_cell(const std::vector<TensorShape>& shapes) {
  if (shapes.empty()) return {};
  return shapes_text(shapes);
}

/// The columns that are sums, after those that say which layer it is.
const std::vector<std::string>& cost_columns() {
  static const std::vector<std::string> kColumns = {"calls",
                                                    "parameters",
                                                    "trainable_parameters",
                                                    "frozen_parameters",
                                                    "tied_parameters",
                                                    "parameter_bytes",
                                                    "buffers",
                                                    "buffer_bytes",
                                                    "macs",
                                                    "flops",
                                                    "backward_macs",
                                                    "backward_flops",
                                                    "uncounted_calls",
                                                    "activations",
                                                    "activation_bytes",
                                                    "device_time_total_ns",
                                                    "self_device_time_ns",
                                                    "backward_device_time_ns",
                                                    "cpu_time_total_ns",
                                                    "self_cpu_time_ns",
                                                    "backward_cpu_time_ns",
                                                    "flops_per_s"};
  return kColumns;
}

/// Of a callable parameters are not known.
void add_costs(std::vector<Cell>& row, const LayerCost& layer, const ModelSummary& summary) {
  const auto parameter = [&](std::uint64_t number) {
    return summary.has_model ? Cell(number) : Cell();
  };
  const auto device = [&](std::int64_t ns) { return summary.on_device ? Cell(ns) : Cell(); };
  row.insert(row.end(), {optional_cell(layer.calls),
                         parameter(layer.parameters),
                         parameter(layer.trainable_parameters),
                         parameter(layer.frozen_parameters()),
                         parameter(layer.tied_parameters),
                         parameter(layer.parameter_bytes),
                         parameter(layer.buffers),
                         parameter(layer.buffer_bytes),
                         optional_cell(layer.macs),
                         optional_cell(layer.flops),
                         layer.backward_macs,
                         layer.backward_flops,
                         layer.uncounted_calls,
                         optional_cell(layer.activations),
                         optional_cell(layer.activation_bytes),
                         device(layer.device_time_total_ns),
                         device(layer.self_device_time_ns),
                         device(layer.backward_device_time_ns),
                         layer.cpu_time_total_ns,
                         layer.self_cpu_time_ns,
                         layer.backward_cpu_time_ns,
                         optional_cell(layer.flops_per_s())});
}

std::vector<std::string> columns_after(std::vector<std::string> first) {
  first.insert(first.end(), cost_columns().begin(), cost_columns().end());
  return first;
}

void add_known(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void add_to(LayerCost& sum, const LayerCost& layer) {
  add_known(sum.calls, layer.calls);
  sum.parameters += layer.parameters;
  sum.trainable_parameters += layer.trainable_parameters;
  sum.tied_parameters += layer.tied_parameters;
  sum.parameter_bytes += layer.parameter_bytes;
  sum.buffers += layer.buffers;
  sum.buffer_bytes += layer.buffer_bytes;
  add_known(sum.macs, layer.macs);
  add_known(sum.flops, layer.flops);
  sum.backward_macs += layer.backward_macs;
  sum.backward_flops += layer.backward_flops;
  sum.uncounted_calls += layer.uncounted_calls;
  add_known(sum.activations, layer.activations);
  add_known(sum.activation_bytes, layer.activation_bytes);
  sum.cpu_time_total_ns += layer.cpu_time_total_ns;
  sum.self_cpu_time_ns += layer.self_cpu_time_ns;
  sum.device_time_total_ns += layer.device_time_total_ns;
  sum.self_device_time_ns += layer.self_device_time_ns;
  sum.backward_cpu_time_ns += layer.backward_cpu_time_ns;
  sum.backward_device_time_ns += layer.backward_device_time_ns;
}

std::string table_of(const AnalysisReport& report, const ModelTableOptions& options) {
  const Result<std::string> text =
      report_text(report, {.sort_by = options.sort_by,
                           .row_limit = options.row_limit,
                           .width = options.width,
                           .how_to_show_all_columns = "json() has all"});
  if (!text.ok()) throw std::invalid_argument(text.status().message());
  return *text;
}

AnalysisReport uncounted_report(const ModelSummary& summary) {
  AnalysisReport report;
  report.schema = kSchema;
  report.table.columns = {"name",           "reason",      "calls",
                          "device_time_ns", "cpu_time_ns", "first_layer"};
  report.shown = report.table.columns;
  for (const UncountedOperator& op : summary.uncounted) {
    const char* const reason = op.has_rule ? "sizes are not known" : "no rule";
    report.table.rows.push_back({op.name, std::string(reason), op.calls,
                                 summary.on_device ? Cell(op.device_time_ns) : Cell(),
                                 op.cpu_time_ns, op.path.empty() ? Cell() : Cell(op.path)});
  }
  return report;
}

std::vector<std::string> notes_of(const ModelSummary& summary) {
  std::vector<std::string> notes;
  if (!summary.uncounted.empty()) {
    std::string note = "Operators without a rule are in no count: ";
    const std::size_t most = std::min<std::size_t>(summary.uncounted.size(), 5);
    for (std::size_t at = 0; at < most; ++at) {
      const UncountedOperator& op = summary.uncounted[at];
      note += (at == 0 ? "" : ", ") + op.name + " (" + std::to_string(op.calls) + ")";
    }
    if (most < summary.uncounted.size()) note += ", ...";
    notes.push_back(note + "; the style `operators` lists them.");
  }
  for (const libtorch::FigureSource& source : libtorch::summary_sources(summary)) {
    notes.push_back(std::string(source.figures) + ": " + std::string(source.how) + ".");
  }
  notes.insert(notes.end(), summary.notes.begin(), summary.notes.end());
  return notes;
}

}  // namespace

std::string libtorch::sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    if (at > 0) text += ", ";
    text += std::to_string(sizes[at]);
  }
  return text + "]";
}

AnalysisReport ModelSummary::report() const {
  AnalysisReport report;
  report.schema = kSchema;
  report.table.columns =
      columns_after({"name", "path", "type", "kind", "depth", "input_shapes", "output_shapes"});
  report.shown = {"name",
                  "type",
                  "calls",
                  "input_shapes",
                  "output_shapes",
                  "parameters",
                  "macs",
                  "flops",
                  "activation_bytes",
                  "device_time_total_ns",
                  "cpu_time_total_ns",
                  "flops_per_s"};
  report.tree = {.name = "name", .path = "path", .depth = "depth"};
  for (const LayerCost& layer : layers) {
    std::vector<Cell> row = {layer.name,
                             layer.path,
                             layer.type,
                             std::string(layer_kind_name(layer.kind)),
                             static_cast<std::uint64_t>(layer.depth),
                             shapes_cell(layer.inputs),
                             shapes_cell(layer.outputs)};
    add_costs(row, layer, *this);
    report.table.rows.push_back(std::move(row));
  }
  report.notes = notes_of(*this);
  return report;
}

AnalysisReport ModelSummary::types_report() const {
  std::vector<bool> has_rows_inside(layers.size(), false);
  for (const LayerCost& layer : layers) {
    if (layer.parent) has_rows_inside[*layer.parent] = true;
  }
  // Layers without rows inside add up.
  std::map<std::string, std::pair<LayerCost, std::uint64_t>> by_type;
  for (std::size_t at = 0; at < layers.size(); ++at) {
    if (has_rows_inside[at]) continue;
    auto& [sum, count] = by_type[layers[at].type];
    add_to(sum, layers[at]);
    ++count;
  }
  std::vector<std::pair<std::string, std::pair<LayerCost, std::uint64_t>>> rows(by_type.begin(),
                                                                                by_type.end());
  const auto time_of = [](const LayerCost& cost) {
    return std::pair(cost.device_time_total_ns, cost.cpu_time_total_ns);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& one, const auto& other) {
    return time_of(one.second.first) > time_of(other.second.first);
  });
  AnalysisReport report;
  report.schema = kSchema;
  report.table.columns = columns_after({"type", "layers"});
  report.shown = {"type",
                  "layers",
                  "calls",
                  "parameters",
                  "macs",
                  "flops",
                  "activation_bytes",
                  "device_time_total_ns",
                  "cpu_time_total_ns",
                  "flops_per_s"};
  for (const auto& [type, entry] : rows) {
    std::vector<Cell> row = {type, entry.second};
    add_costs(row, entry.first, *this);
    report.table.rows.push_back(std::move(row));
  }
  return report;
}

std::string ModelSummary::table(const ModelTableOptions& options) const {
  if (options.style == "layers") return table_of(report(), options);
  if (options.style == "types") return table_of(types_report(), options);
  if (options.style == "operators") {
    return uncounted.empty() ? "Every operator is counted.\n"
                             : table_of(uncounted_report(*this), options);
  }
  if (options.style == "torchinfo") return libtorch::torchinfo_text(*this);
  if (options.style == "flops_profiler") return libtorch::flops_profiler_text(*this, options.top);
  throw std::invalid_argument("there is no style '" + options.style +
                              "'; styles are layers, types, operators, torchinfo and "
                              "flops_profiler");
}

std::string ModelSummary::json() const {
  std::string operators = "[";
  for (const UncountedOperator& op : uncounted) {
    if (operators.size() > 1) operators += ',';
    operators += "{\"name\":";
    wire::append_json_string(operators, op.name);
    operators += ",\"reason\":";
    operators += op.has_rule ? "\"unknown_sizes\"" : "\"no_rule\"";
    operators += ",\"calls\":" + std::to_string(op.calls);
    operators += ",\"cpu_time_ns\":" + std::to_string(op.cpu_time_ns);
    operators += ",\"device_time_ns\":" + (on_device ? std::to_string(op.device_time_ns) : "null");
    operators += ",\"first_layer\":";
    wire::append_json_string(operators, op.path);
    operators += '}';
  }
  operators += ']';
  std::string warnings = "[";
  for (const std::string& note : notes) {
    if (warnings.size() > 1) warnings += ',';
    wire::append_json_string(warnings, note);
  }
  warnings += ']';
  return table_json(kSchema, report().table,
                    {{"uncounted_operators", operators},
                     {"estimated_layer_bytes", has_model ? std::to_string(layer_bytes) : "null"},
                     {"sources", libtorch::sources_json(libtorch::summary_sources(*this))},
                     {"notes", warnings}});
}

}  // namespace tbtrace
