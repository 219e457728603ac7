#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "base/bounded_sum.h"
#include "base/natural_order.h"
#include "report/source_report.h"
#include "report/table_columns.h"
#include "report/totals.h"
#include "wire/json_emitter.h"
#include "writers/tables/cell_json.h"
#include "writers/tables/input_labels.h"
#include "writers/tables/json_members.h"
#include "writers/tables/report_table.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace {
namespace {

constexpr const char* kInputColumn = "input";

/// A cell's place in a sorted column.
struct SortKey {
  bool has_value = false;
  bool is_number = false;
  long double number = 0;  // holds any 64-bit integer
  std::string text;
};

SortKey sort_key(const Cell& cell) {
  SortKey key;
  if (std::holds_alternative<std::monostate>(cell)) return key;
  key.has_value = true;
  key.is_number = true;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
    key.number = static_cast<long double>(*whole);
  } else if (const auto* count = std::get_if<std::uint64_t>(&cell)) {
    key.number = static_cast<long double>(*count);
  } else if (const auto* real = std::get_if<double>(&cell)) {
    key.number = static_cast<long double>(*real);
  } else if (const auto* flag = std::get_if<bool>(&cell)) {
    key.number = *flag ? 1 : 0;
  } else {
    key.is_number = false;
    if (const auto* text = std::get_if<std::string>(&cell)) key.text = *text;
    if (const auto* json = std::get_if<Json>(&cell)) key.text = json->text;
  }
  return key;
}

bool comes_before(const SortKey& one, const SortKey& two) {
  if (one.has_value != two.has_value) return one.has_value;
  if (one.is_number != two.is_number) return one.is_number;
  return one.is_number ? one.number > two.number : one.text < two.text;
}

Result<std::vector<std::size_t>> row_order(const Table& table, const std::string& sort_by) {
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (sort_by.empty()) return order;
  const std::optional<std::size_t> column = report::column_named(table, sort_by);
  if (!column) {
    std::string known;
    for (const std::string& name : table.columns) known += (known.empty() ? "" : ", ") + name;
    const std::vector<std::string_view> names(table.columns.begin(), table.columns.end());
    return Status(StatusCode::invalid_argument, "unknown column '" + sort_by + "' to sort by" +
                                                    suggestion(sort_by, names) + "; use one of " +
                                                    known);
  }
  std::vector<SortKey> keys;
  keys.reserve(table.rows.size());
  for (const std::vector<Cell>& row : table.rows) keys.push_back(sort_key(row[*column]));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t two) {
    return comes_before(keys[one], keys[two]);
  });
  return order;
}

std::string json_of(const Cell& cell) {
  std::string text;
  wire::JsonEmitter json(text);
  writers::emit_cell(json, cell);
  return text;
}

std::vector<std::pair<std::string, std::string>> json_members(const AnalysisReport& report) {
  std::string totals;
  wire::JsonEmitter json(totals);
  json.begin_object();
  for (const auto& [name, cell] : report.totals) {
    json.key(name);
    writers::emit_cell(json, cell);
  }
  json.end_object();
  std::vector<std::pair<std::string, std::string>> members = {{"totals", std::move(totals)}};
  for (const auto& [name, cell] : report.facts) members.emplace_back(name, json_of(cell));
  members.emplace_back("issues", writers::issues_json(report.source));
  members.emplace_back("links", writers::links_json(report.source));
  return members;
}

/// The sum of two numbers; no value if one is missing or none.
Cell sum_of(const Cell& one, const Cell& two) {
  if (const auto* a = std::get_if<std::int64_t>(&one)) {
    const auto* b = std::get_if<std::int64_t>(&two);
    return b != nullptr ? Cell(bounded_sum(*a, *b)) : Cell();
  }
  if (const auto* a = std::get_if<std::uint64_t>(&one)) {
    const auto* b = std::get_if<std::uint64_t>(&two);
    return b != nullptr ? Cell(saturating_sum(*a, *b)) : Cell();
  }
  return {};
}

void add_totals(AnalysisReport::Totals& sums, const AnalysisReport::Totals& more) {
  for (auto& sum : sums) {
    const Cell* const same = report::total_named(more, sum.first);
    sum.second = same != nullptr ? sum_of(sum.second, *same) : Cell();
  }
}

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
    if (text != nullptr && has_value) row[*value] = writers::shown_cell(*text, row[*value]);
  }
  return rows;
}

/// Adds columns that only some reports show, each after the one that it follows there.
void add_shown(std::vector<std::string>& shown, const std::vector<std::string>& more) {
  auto place = shown.begin();
  for (const std::string& column : more) {
    const auto known = std::find(shown.begin(), shown.end(), column);
    place = known != shown.end() ? known + 1 : shown.insert(place, column) + 1;
  }
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
    if (!is_shown && writers::has_values(report.table, column)) ++hidden;
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
  const std::vector<std::string> labels = writers::input_labels(paths);
  std::map<std::string_view, std::string_view> label_of;
  for (std::size_t at = 0; at < paths.size(); ++at) label_of[paths[at]] = labels[at];
  for (std::vector<Cell>& row : rows.rows) {
    auto* const path = std::get_if<std::string>(&row[*input]);
    if (path != nullptr) *path = label_of[*path];
  }
}

std::string text_for_people(const AnalysisReport& report, Table rows,
                            const ReportOptions& options) {
  std::vector<std::string> columns = columns_of(report, options);
  const std::size_t hidden_columns = count_hidden(report, columns);
  if (report.tree && options.sort_by.empty()) rows = indented(*report.tree, std::move(rows));
  if (report.tree && !options.sort_by.empty()) {
    std::erase(columns, report.tree->path);
    std::ranges::replace(columns, report.tree->name, report.tree->path);
  }
  if (report.named_values) rows = with_units(*report.named_values, std::move(rows));
  shorten_inputs(report.table, rows);
  writers::TotalsLine line = {.label = report.totals_label, .cells = {}};
  AnalysisReport::Totals others;
  for (const auto& total : report.totals) {
    const bool is_zero = total.second == Cell(std::int64_t{0});
    if (is_zero &&
        std::ranges::find(report.totals_if_any, total.first) != report.totals_if_any.end()) {
      continue;
    }
    (report::column_named(report.table, total.first) ? line.cells : others).push_back(total);
  }
  // The totals of a single row would say the same again.
  const bool has_totals = report.table.rows.size() > 1;
  const writers::TextLayout layout = {.width = options.wide ? 0 : options.width,
                                      .hidden_rows = report.table.rows.size() - rows.rows.size(),
                                      .hidden_columns = hidden_columns,
                                      .column_hint = options.how_to_show_all_columns};
  std::string text = writers::report_table(rows, columns, layout,
                                           has_totals && !line.cells.empty() ? &line : nullptr);
  if (has_totals && !others.empty()) text += "\n" + writers::report_totals(others);
  if (!report.notes.empty()) {
    text += "\n" + wrapped_text(writers::report_notes(report.notes), options.width);
  }
  return text;
}

std::string text_of(const AnalysisReport& report, const Table& rows, const ReportOptions& options) {
  switch (options.format) {
    case TableFormat::csv:
      return table_csv(rows);
    case TableFormat::markdown:
      return table_markdown(rows);
    case TableFormat::json:
      return table_json(report.schema, rows, json_members(report));
    case TableFormat::text:
      break;
  }
  return text_for_people(report, rows, options);
}

void add_input_column(AnalysisReport& report, const std::string& input) {
  if (!report.table.columns.empty() && report.table.columns.front() == kInputColumn) return;
  report.table.columns.insert(report.table.columns.begin(), kInputColumn);
  report.shown.insert(report.shown.begin(), kInputColumn);
  for (std::vector<Cell>& row : report.table.rows) row.insert(row.begin(), Cell(input));
}

}  // namespace

AnalysisReport join_reports(std::vector<AnalysisReport> reports) {
  if (reports.empty()) return {};
  AnalysisReport all = std::move(reports.front());
  if (reports.size() == 1) return all;
  for (auto other = std::next(reports.begin()); other != reports.end(); ++other) {
    std::ranges::move(other->table.rows, std::back_inserter(all.table.rows));
    report::add_source(all.source, other->source);
    add_totals(all.totals, other->totals);
    add_shown(all.shown, other->shown);
    for (std::string& note : other->notes) {
      if (std::ranges::find(all.notes, note) == all.notes.end())
        all.notes.push_back(std::move(note));
    }
  }
  if (all.joined_totals != nullptr) all.totals = all.joined_totals(all.totals, all.table);
  return all;
}

AnalysisReport join_inputs(std::vector<ReportOfInput> inputs, bool with_paths) {
  std::ranges::stable_sort(inputs, [](const ReportOfInput& one, const ReportOfInput& two) {
    if (one.rank != two.rank) return one.rank && (!two.rank || *one.rank < *two.rank);
    return in_natural_order(one.path, two.path);
  });
  std::vector<AnalysisReport> reports;
  for (ReportOfInput& input : inputs) {
    if (with_paths) add_input_column(input.report, input.path);
    reports.push_back(std::move(input.report));
  }
  return join_reports(std::move(reports));
}

Result<Table> report_rows(const AnalysisReport& report, const ReportOptions& options) {
  const Result<std::vector<std::size_t>> order = row_order(report.table, options.sort_by);
  if (!order.ok()) return order.status();
  Table rows;
  rows.columns = report.table.columns;
  for (const std::size_t row : *order) {
    if (options.row_limit >= 0 && std::cmp_equal(rows.rows.size(), options.row_limit)) break;
    rows.rows.push_back(report.table.rows[row]);
  }
  return rows;
}

Result<std::string> report_text(const AnalysisReport& report, const ReportOptions& options) {
  const bool is_whole =
      options.row_limit < 0 || std::cmp_less_equal(report.table.rows.size(), options.row_limit);
  if (is_whole && options.sort_by.empty()) {
    return text_of(report, report.table, options);
  }
  const Result<Table> rows = report_rows(report, options);
  if (!rows.ok()) return rows.status();
  return text_of(report, *rows, options);
}

}  // namespace tbtrace
