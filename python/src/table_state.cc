// What pickle keeps of tables: plain objects, so that another process can make them again.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tbtrace/version.h>

#include "failures.h"
#include "python_table.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

nb::list state_of(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(text_object(text));
  return list;
}

std::vector<std::string> texts_of(nb::handle list) {
  std::vector<std::string> texts;
  for (const nb::handle text : list) texts.push_back(text_bytes(text));
  return texts;
}

/// As cell_object(), but JSON stays a text, and it and numbers without a sign are in a tuple.
nb::object state_of(const Cell& cell) {
  if (const auto* const number = std::get_if<std::uint64_t>(&cell)) return nb::make_tuple(*number);
  if (const auto* const json = std::get_if<Json>(&cell)) {
    return nb::make_tuple(text_object(json->text));
  }
  return cell_object(cell);
}

Cell cell_of(nb::handle value) {
  if (value.is_none()) return {};
  if (nb::isinstance<nb::bool_>(value)) return nb::cast<bool>(value);
  if (nb::isinstance<nb::float_>(value)) return nb::cast<double>(value);
  if (nb::isinstance<nb::str>(value)) return text_bytes(value);
  if (nb::isinstance<nb::tuple>(value)) {
    const nb::object inside = value[0];
    if (nb::isinstance<nb::str>(inside)) return Json{text_bytes(inside)};
    return nb::cast<std::uint64_t>(inside);
  }
  if (nb::isinstance<nb::list>(value)) return texts_of(value);
  return nb::cast<std::int64_t>(value);
}

nb::list state_of(const AnalysisReport::Totals& totals) {
  nb::list list;
  for (const auto& [name, cell] : totals) {
    list.append(nb::make_tuple(text_object(name), state_of(cell)));
  }
  return list;
}

AnalysisReport::Totals totals_of(nb::handle list) {
  AnalysisReport::Totals totals;
  for (const nb::handle total : list) totals.emplace_back(text_bytes(total[0]), cell_of(total[1]));
  return totals;
}

nb::tuple state_of(const SourceReport& source) {
  nb::list issues;
  for (const auto& [id, count] : source.issues) {
    issues.append(nb::make_tuple(text_object(id), count));
  }
  const LinkReport& links = source.links;
  return nb::make_tuple(issues, links.external_ids_valid, links.launch_by_correlation,
                        links.launch_by_flow, links.launch_unknown, links.operator_by_flow,
                        links.operator_by_external_id, links.operator_by_containment,
                        links.operator_unknown, links.work_over_operator_limit, links.linked_ns,
                        links.unlinked_ns);
}

SourceReport source_of(nb::handle state) {
  SourceReport source;
  for (const nb::handle issue : nb::object(state[0])) {
    source.issues[text_bytes(issue[0])] = nb::cast<std::uint64_t>(issue[1]);
  }
  LinkReport& links = source.links;
  links.external_ids_valid = nb::cast<bool>(state[1]);
  std::size_t at = 2;
  for (std::uint64_t* const count :
       {&links.launch_by_correlation, &links.launch_by_flow, &links.launch_unknown,
        &links.operator_by_flow, &links.operator_by_external_id, &links.operator_by_containment,
        &links.operator_unknown, &links.work_over_operator_limit}) {
    *count = nb::cast<std::uint64_t>(state[at++]);
  }
  links.linked_ns = nb::cast<std::int64_t>(state[at++]);
  links.unlinked_ns = nb::cast<std::int64_t>(state[at]);
  return source;
}

void check_version(const nb::tuple& state) {
  if (nb::isinstance<nb::str>(state[0]) && text_bytes(state[0]) == TBTRACE_VERSION) return;
  wrong_argument("the table was pickled by another version of tbtrace; make it again");
}

nb::object optional_text(const std::optional<std::string>& text) {
  return text ? nb::object(text_object(*text)) : nb::none();
}

std::optional<std::string> optional_bytes(nb::handle text) {
  return text.is_none() ? std::nullopt : std::optional(text_bytes(text));
}

nb::object state_of(const std::shared_ptr<const GroupValues>& values) {
  if (values == nullptr) return nb::none();
  return nb::make_tuple(
      optional_text(values->input_shapes), state_of(values->stack), optional_text(values->module),
      optional_text(values->line), nb::cast(values->device), optional_text(values->stream),
      optional_text(values->thread), nb::cast(values->rank), nb::cast(values->step));
}

std::shared_ptr<const GroupValues> values_of(nb::handle state) {
  if (state.is_none()) return nullptr;
  using Number = std::optional<std::int64_t>;
  GroupValues values;
  values.input_shapes = optional_bytes(state[0]);
  values.stack = texts_of(state[1]);
  values.module = optional_bytes(state[2]);
  values.line = optional_bytes(state[3]);
  values.device = nb::cast<Number>(state[4]);
  values.stream = optional_bytes(state[5]);
  values.thread = optional_bytes(state[6]);
  values.rank = nb::cast<Number>(state[7]);
  values.step = nb::cast<Number>(state[8]);
  return std::make_shared<const GroupValues>(std::move(values));
}

nb::tuple state_of(const OperatorRow& row) {
  return nb::make_tuple(
      text_object(row.key), static_cast<int>(row.kind), text_object(row.overload_name), row.count,
      row.is_user_annotation, row.is_async, row.has_cpu_parent, static_cast<int>(row.device_type),
      row.cpu_time_total.us, row.cpu_time_total.ns, row.self_cpu_time_total.us,
      row.self_cpu_time_total.ns, row.device_time_total.us, row.device_time_total.ns,
      row.self_device_time_total.us, row.self_device_time_total.ns, row.cpu_memory_usage_bytes,
      row.self_cpu_memory_usage_bytes, row.device_memory_usage_bytes,
      row.self_device_memory_usage_bytes, row.flops, text_object(row.input_shapes),
      state_of(row.stack), state_of(row.values));
}

OperatorRow row_of(nb::handle state) {
  OperatorRow row;
  std::size_t at = 0;
  const auto next = [&] { return nb::object(state[at++]); };
  row.key = text_bytes(next());
  row.kind = static_cast<OperatorKind>(nb::cast<int>(next()));
  row.overload_name = text_bytes(next());
  row.count = nb::cast<std::int64_t>(next());
  row.is_user_annotation = nb::cast<bool>(next());
  row.is_async = nb::cast<bool>(next());
  row.has_cpu_parent = nb::cast<bool>(next());
  row.device_type = static_cast<DeviceType>(nb::cast<int>(next()));
  for (Duration* const time : {&row.cpu_time_total, &row.self_cpu_time_total,
                               &row.device_time_total, &row.self_device_time_total}) {
    time->us = nb::cast<double>(next());
    time->ns = nb::cast<std::int64_t>(next());
  }
  for (std::int64_t* const bytes :
       {&row.cpu_memory_usage_bytes, &row.self_cpu_memory_usage_bytes,
        &row.device_memory_usage_bytes, &row.self_device_memory_usage_bytes}) {
    *bytes = nb::cast<std::int64_t>(next());
  }
  row.flops = nb::cast<std::uint64_t>(next());
  row.input_shapes = text_bytes(next());
  row.stack = texts_of(next());
  row.values = values_of(next());
  return row;
}

}  // namespace

nb::tuple table_state(const PythonTable& table) {
  const auto* const whole = dynamic_cast<const ReportTable*>(table.data.get());
  const AnalysisReport report =
      whole != nullptr ? whole->report() : table.data->part(0, table.data->size());
  nb::list rows;
  for (const std::vector<Cell>& row : report.table.rows) {
    nb::list cells;
    for (const Cell& cell : row) cells.append(state_of(cell));
    rows.append(cells);
  }
  nb::list bases;
  for (const RowsOfBase& part : table.bases) {
    bases.append(nb::make_tuple(part.rows, part.base_time_ns));
  }
  nb::object tree = nb::none();
  if (report.tree) {
    tree = state_of(std::vector{report.tree->name, report.tree->path, report.tree->depth});
  }
  nb::object named = nb::none();
  if (report.named_values) {
    named = state_of(std::vector{report.named_values->name, report.named_values->value});
  }
  return nb::make_tuple(TBTRACE_VERSION, text_object(report.schema), state_of(report.table.columns),
                        rows, state_of(report.totals), text_object(report.totals_label),
                        state_of(report.totals_if_any), state_of(report.facts), tree, named,
                        state_of(report.shown), state_of(report.notes), state_of(report.source),
                        table.base_time_ns, bases);
}

PythonTable table_of_state(const nb::tuple& state) {
  check_version(state);
  AnalysisReport report;
  std::size_t at = 1;
  const auto next = [&] { return nb::object(state[at++]); };
  report.schema = text_bytes(next());
  report.table.columns = texts_of(next());
  for (const nb::handle row : next()) {
    std::vector<Cell>& cells = report.table.rows.emplace_back();
    for (const nb::handle cell : row) cells.push_back(cell_of(cell));
  }
  report.totals = totals_of(next());
  report.totals_label = text_bytes(next());
  report.totals_if_any = texts_of(next());
  report.facts = totals_of(next());
  if (const nb::object tree = next(); !tree.is_none()) {
    report.tree = {text_bytes(tree[0]), text_bytes(tree[1]), text_bytes(tree[2])};
  }
  if (const nb::object named = next(); !named.is_none()) {
    report.named_values = {text_bytes(named[0]), text_bytes(named[1])};
  }
  report.shown = texts_of(next());
  report.notes = texts_of(next());
  report.source = source_of(next());
  PythonTable table =
      python_table(std::move(report), nb::cast<std::optional<std::int64_t>>(next()));
  for (const nb::handle part : next()) {
    table.bases.push_back({nb::cast<std::size_t>(part[0]), nb::cast<std::int64_t>(part[1])});
  }
  return table;
}

namespace {

nb::list keys_of(GroupKeySet keys) {
  nb::list names;
  for (std::size_t number = 0; number < kGroupKeys; ++number) {
    const auto key = static_cast<GroupKey>(number);
    if (keys.has(key)) names.append(text_object(std::string(group_key_name(key))));
  }
  return names;
}

}  // namespace

nb::tuple operators_state(const PythonOperators& operators) {
  const OperatorSummary& summary = operators.summary->summary();
  const OperatorRows& data = summary.data();
  nb::list rows;
  for (const OperatorRow& row : data.rows) rows.append(state_of(row));
  nb::list threads;
  for (const ThreadTotal& thread : summary.threads()) {
    threads.append(nb::make_tuple(text_object(thread.process), text_object(thread.thread),
                                  text_object(thread.name), thread.self_cpu_time_total_ns,
                                  thread.idle_ns));
  }
  const std::optional<int> device =
      data.use_device ? std::optional(static_cast<int>(*data.use_device)) : std::nullopt;
  return nb::make_tuple(TBTRACE_VERSION, rows, device, data.profile_memory, data.with_flops,
                        data.grouped_by_shape, data.device_time_on_operators,
                        static_cast<int>(summary.figures()), state_of(summary.source()),
                        summary.window_ns(), threads, keys_of(data.by), state_of(data.notes));
}

PythonOperators operators_of_state(const nb::tuple& state) {
  check_version(state);
  OperatorRows data;
  for (const nb::handle row : nb::object(state[1])) data.rows.push_back(row_of(row));
  if (const nb::object device = state[2]; !device.is_none()) {
    data.use_device = static_cast<DeviceType>(nb::cast<int>(device));
  }
  data.profile_memory = nb::cast<bool>(state[3]);
  data.with_flops = nb::cast<bool>(state[4]);
  data.grouped_by_shape = nb::cast<bool>(state[5]);
  data.device_time_on_operators = nb::cast<bool>(state[6]);
  for (const std::string& name : texts_of(state[11])) data.by.add(*group_key_named(name));
  data.notes = texts_of(state[12]);
  std::vector<ThreadTotal> threads;
  for (const nb::handle thread : nb::object(state[10])) {
    threads.push_back({text_bytes(thread[0]), text_bytes(thread[1]), text_bytes(thread[2]),
                       nb::cast<std::int64_t>(thread[3]), nb::cast<std::int64_t>(thread[4])});
  }
  return PythonOperators(
      OperatorSummary(std::move(data), static_cast<Figures>(nb::cast<int>(state[7])),
                      source_of(state[8]), nb::cast<std::int64_t>(state[9]), std::move(threads)));
}

}  // namespace tbtrace::python
