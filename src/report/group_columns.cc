#include "report/group_columns.h"

#include <algorithm>
#include <iterator>

#include <tbtrace/device.h>

#include "report/optional_cell.h"

namespace tbtrace {
namespace {

constexpr std::array<std::string_view, kGroupKeys> kNames = {
    "shape", "stack", "module", "line", "device", "stream", "thread", "rank", "step"};
constexpr std::string_view kStreamName = "stream_name";

std::string_view column_name(GroupKey key) {
  if (key == GroupKey::shape) return "input_shapes";
  return key == GroupKey::line ? "source_line" : group_key_name(key);
}

}  // namespace

std::string_view group_key_name(GroupKey key) { return kNames[static_cast<std::size_t>(key)]; }

std::optional<GroupKey> group_key_named(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<GroupKey>(std::distance(kNames.begin(), found));
}

std::vector<report::GroupColumn> report::group_columns(GroupKeySet keys) {
  std::vector<GroupColumn> columns;
  for (const GroupKey key : kGroupColumns) {
    if (!has_group_column(keys, key)) continue;
    columns.push_back({column_name(key), key});
    if (key == GroupKey::stream) columns.push_back({kStreamName, key});
  }
  return columns;
}

Cell report::GroupColumn::cell(const GroupValues& values) const {
  if (key != GroupKey::stream || name == kStreamName) return group_cell(values, key);
  return values.stream ? optional_cell(number_in_name(*values.stream)) : Cell();
}

Cell report::group_cell(const GroupValues& values, GroupKey key) {
  switch (key) {
    case GroupKey::shape:
      return values.input_shapes ? Cell(Json{*values.input_shapes}) : Cell();
    case GroupKey::stack:
      return values.stack.empty() ? Cell() : Cell(values.stack);
    case GroupKey::module:
      return optional_cell(values.module);
    case GroupKey::line:
      return optional_cell(values.line);
    case GroupKey::device:
      return optional_cell(values.device);
    case GroupKey::stream:
      return optional_cell(values.stream);
    case GroupKey::thread:
      return optional_cell(values.thread);
    case GroupKey::rank:
      return optional_cell(values.rank);
    case GroupKey::step:
      break;
  }
  return optional_cell(values.step);
}

std::string report::group_text(const GroupValues& values, GroupKey key) {
  const Cell cell = group_cell(values, key);
  if (const auto* const text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* const number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* const json = std::get_if<Json>(&cell)) return json->text;
  return values.stack.empty() || key != GroupKey::stack ? std::string() : values.stack.front();
}

bool report::has_group_column(GroupKeySet keys, GroupKey key) {
  return keys.has(key) || (key == GroupKey::device && keys.has(GroupKey::stream));
}

}  // namespace tbtrace
