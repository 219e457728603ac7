#include "writers/tables/peoples_report.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "report/table_columns.h"
#include "writers/tables/input_labels.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::writers {
namespace {

constexpr const char* kInputColumn = "input";

/// Indents the names of a tree's rows.
Table indented(const AnalysisReport::Tree& tree, Table rows) {
  const std::optional<std::size_t> name = report::column_named(rows, tree.name);
  const std::optional<std::size_t> depth = report::column_named(rows, tree.depth);
  if (!name || !depth) return rows;
  constexpr std::uint64_t kMostLevels = 20;
  for (std::vector<Cell>& row : rows.rows) {
    const auto* const level = std::get_if<std::uint64_t>(&row[*depth]);
    auto* const text = std::get_if<std::string>(&row[*name]);
    if (level == nullptr || text == nullptr) continue;
    text->insert(0, 2 * static_cast<std::size_t>(std::min(*level, kMostLevels)), ' ');
  }
  return rows;
}

/// Values as texts with the units that their names have.
Table with_units(const AnalysisReport::NamedValues& columns, Table rows) {
  const std::optional<std::size_t> name = report::column_named(rows, columns.name);
  const std::optional<std::size_t> value = report::column_named(rows, columns.value);
  if (!name || !value) return rows;
  for (std::vector<Cell>& row : rows.rows) {
    const auto* const text = std::get_if<std::string>(&row[*name]);
    const bool has_value = !std::holds_alternative<std::monostate>(row[*value]);
    if (text != nullptr && has_value) row[*value] = shown_cell(*text, row[*value]);
  }
  return rows;
}

/// The columns to print: those for people, or all, those for people first.
std::vector<std::string> columns_of(const AnalysisReport& report, const ReportOptions& options) {
  std::vector<std::string> columns = report.shown;
  const auto is_listed = [&](const std::string& name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  if (!options.sort_by.empty()) {
    // Behind the columns that say what a row is, where the line is never too short for it.
    const bool has_input = is_listed(kInputColumn);
    const auto place = columns.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                             columns.size(), has_input ? 3 : 2));
    const auto listed = std::ranges::find(columns, options.sort_by);
    if (listed == columns.end()) {
      columns.insert(place, options.sort_by);
    } else if (listed > place) {
      std::rotate(place, listed, listed + 1);
    }
  }
  if (!options.wide) return columns;
  for (const std::string& name : report.table.columns) {
    if (!is_listed(name)) columns.push_back(name);
  }
  return columns;
}

std::size_t count_hidden(const AnalysisReport& report, const std::vector<std::string>& columns) {
  std::size_t hidden = 0;
  for (std::size_t column = 0; column < report.table.columns.size(); ++column) {
    const bool is_shown = std::ranges::find(columns, report.table.columns[column]) != columns.end();
    if (!is_shown && has_values(report.table, column)) ++hidden;
  }
  return hidden;
}

/// Replaces paths by what tells them apart. `all` has the rows that are not shown, too.
void shorten_inputs(const Table& all, Table& rows) {
  const std::optional<std::size_t> input = report::column_named(all, kInputColumn);
  if (!input) return;
  std::vector<std::string> paths;
  for (const std::vector<Cell>& row : all.rows) {
    const auto* const path = std::get_if<std::string>(&row[*input]);
    if (path != nullptr && (paths.empty() || paths.back() != *path)) paths.push_back(*path);
  }
  const std::vector<std::string> labels = input_labels(paths);
  std::map<std::string_view, std::string_view> label_of;
  for (std::size_t at = 0; at < paths.size(); ++at) label_of[paths[at]] = labels[at];
  for (std::vector<Cell>& row : rows.rows) {
    auto* const path = std::get_if<std::string>(&row[*input]);
    if (path != nullptr) *path = label_of[*path];
  }
}

}  // namespace

PeoplesReport peoples_report(const AnalysisReport& report, Table rows,
                             const ReportOptions& options) {
  PeoplesReport made;
  made.columns = columns_of(report, options);
  made.hidden_columns = count_hidden(report, made.columns);
  made.hidden_rows = report.table.rows.size() - rows.rows.size();
  if (report.tree && options.sort_by.empty()) rows = indented(*report.tree, std::move(rows));
  if (report.tree && !options.sort_by.empty()) {
    std::erase(made.columns, report.tree->path);
    std::ranges::replace(made.columns, report.tree->name, report.tree->path);
  }
  if (report.named_values) rows = with_units(*report.named_values, std::move(rows));
  shorten_inputs(report.table, rows);
  made.rows = std::move(rows);
  made.line.label = report.totals_label;
  // The totals of a single row would say the same again.
  if (report.table.rows.size() <= 1) return made;
  for (const auto& total : report.totals) {
    const bool is_zero = total.second == Cell(std::int64_t{0});
    if (is_zero &&
        std::ranges::find(report.totals_if_any, total.first) != report.totals_if_any.end()) {
      continue;
    }
    const bool has_column = report::column_named(report.table, total.first).has_value();
    (has_column ? made.line.cells : made.totals).push_back(total);
  }
  return made;
}

}  // namespace tbtrace::writers
