#include <algorithm>
#include <cstddef>
#include <iterator>
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
#include "writers/tables/html_table.h"
#include "writers/tables/json_members.h"
#include "writers/tables/peoples_report.h"
#include "writers/tables/report_table.h"

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

/// Those that the options select. `take`: makes a row from one of the table.
template <typename AnyTable, typename Take>
Result<Table> rows_in_order(AnyTable& table, const ReportOptions& options, const Take& take) {
  const Result<std::vector<std::size_t>> order = row_order(table, options.sort_by);
  if (!order.ok()) return order.status();
  Table rows;
  rows.columns = table.columns;
  for (const std::size_t row : *order) {
    if (options.row_limit >= 0 && std::cmp_equal(rows.rows.size(), options.row_limit)) break;
    rows.rows.push_back(take(table.rows[row]));
  }
  return rows;
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

/// Adds columns that only some reports show, each after the one that it follows there.
void add_shown(std::vector<std::string>& shown, const std::vector<std::string>& more) {
  auto place = shown.begin();
  for (const std::string& column : more) {
    const auto known = std::find(shown.begin(), shown.end(), column);
    place = known != shown.end() ? known + 1 : shown.insert(place, column) + 1;
  }
}

std::string text_for_people(const AnalysisReport& report, Table rows,
                            const ReportOptions& options) {
  const writers::PeoplesReport shown = writers::peoples_report(report, std::move(rows), options);
  const writers::TextLayout layout = {.width = options.wide ? 0 : options.width,
                                      .hidden_rows = shown.hidden_rows,
                                      .hidden_columns = shown.hidden_columns,
                                      .column_hint = options.how_to_show_all_columns};
  std::string text = writers::report_table(shown.rows, shown.columns, layout,
                                           shown.line.cells.empty() ? nullptr : &shown.line);
  if (!shown.totals.empty()) text += "\n" + writers::report_totals(shown.totals);
  if (!report.notes.empty()) {
    if (!text.empty()) text += "\n";
    text += wrapped_text(writers::report_notes(report.notes), options.width);
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
    all.left_out += other->left_out;
    all.facts.clear();  // they are of one
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
  return rows_in_order(
      report.table, options, [](const std::vector<Cell>& row) -> const auto& { return row; });
}

Result<Table> report_rows(AnalysisReport&& report, const ReportOptions& options) {
  Table whole = std::move(report).table;
  return rows_in_order(whole, options, [](std::vector<Cell>& row) { return std::move(row); });
}

Result<std::string> report_html(const AnalysisReport& report, const ReportOptions& options) {
  Result<Table> rows = report_rows(report, options);
  if (!rows.ok()) return rows.status();
  return writers::html_table(report, writers::peoples_report(report, *std::move(rows), options));
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
