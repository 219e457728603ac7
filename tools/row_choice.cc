#include "row_choice.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "name_filter.h"

namespace tbtrace::tools {
namespace {

constexpr std::array kKinds = std::to_array<std::pair<std::string_view, OperatorKind>>({
    {"operators", OperatorKind::op},
    {"kernels", OperatorKind::kernel},
    {"annotations", OperatorKind::annotation},
    {"frames", OperatorKind::frame},
    {"other", OperatorKind::other},
});

/// Columns that have the name of a row; of several, the first one with a value has it.
constexpr std::array<std::string_view, 7> kNames = {"path",     "name",  "key",   "file",
                                                    "operator", "label", "family"};

std::string_view text_in(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::optional<std::size_t> column_of(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

/// Names the rows of a table.
class RowNames {
 public:
  explicit RowNames(const Table& table)
      : line_(column_of(table, "line")), function_(column_of(table, "function")) {
    for (const std::string_view name : kNames) {
      const std::optional<std::size_t> column = column_of(table, name);
      if (!column) continue;
      columns_.push_back(*column);
      if (name == "file") file_ = column;
    }
  }

  std::string of(const std::vector<Cell>& row) const {
    for (const std::size_t column : columns_) {
      const std::string_view text = text_in(row[column]);
      if (!text.empty()) return column == file_ ? place(row) : std::string(text);
    }
    return {};
  }

 private:
  std::string place(const std::vector<Cell>& row) const {
    std::string text(text_in(row[*file_]));
    const auto* const line = line_ ? std::get_if<std::int64_t>(&row[*line_]) : nullptr;
    if (line != nullptr) text += "(" + std::to_string(*line) + ")";
    if (function_) text += ": " + std::string(text_in(row[*function_]));
    return text;
  }

  std::vector<std::size_t> columns_;
  std::optional<std::size_t> file_;
  std::optional<std::size_t> line_;
  std::optional<std::size_t> function_;
};

bool has_name(const std::vector<ColumnDescription>& columns) {
  return std::ranges::any_of(columns, [](const ColumnDescription& column) {
    return std::ranges::find(kNames, column.name) != kNames.end();
  });
}

}  // namespace

Option name_option() {
  return {.name = "name",
          .value = "REGEX",
          .help =
              "only rows whose name matches somewhere (RE2 syntax; (?i) ignores case); totals "
              "stay those of all rows"};
}

std::vector<Option> row_choice_options() {
  Option kinds = {.name = "kind",
                  .value = "KIND",
                  .help =
                      "only rows of these kinds, separated by commas: operators; kernels, with "
                      "memcpys, memsets and synchronization; annotations, with steps; frames "
                      "(Python functions and modules); other, such as CUDA calls",
                  .is_list = true};
  for (const auto& [name, kind] : kKinds) kinds.choices.push_back(name);
  return {name_option(), std::move(kinds)};
}

Result<NameFilter> chosen_names(const OptionParser& parser) {
  if (!parser.has("name") || !parser.given("name")) return NameFilter();
  Result<NameFilter> filter = name_filter(parser.text("name"));
  if (filter.ok()) return filter;
  return Status(StatusCode::invalid_argument,
                "--name is not a valid regular expression: " + filter.status().message());
}

Status take_row_choice(const OptionParser& parser, TableOptions& table) {
  Result<NameFilter> filter = chosen_names(parser);
  if (!filter.ok()) return filter.status();
  table.accepts_name = *std::move(filter);
  for (const std::string_view chosen : list_of(parser.text("kind"))) {
    for (const auto& [name, kind] : kKinds) {
      if (name == chosen) table.kinds.push_back(kind);
    }
  }
  return {};
}

bool has_names(const TableDescription& table) {
  return has_name(table.columns) ||
         std::ranges::any_of(table.more_columns, [](const ColumnsWithOptions& more) {
           return more.of != "totals" && has_name(more.columns);
         });
}

RowCounts keep_named_rows(AnalysisReport& report, const NameFilter& accepts) {
  RowCounts counts = {.all = report.table.rows.size()};
  const RowNames names(report.table);
  std::erase_if(report.table.rows,
                [&](const std::vector<Cell>& row) { return !accepts(names.of(row)); });
  if (report.tree) {
    std::erase(report.shown, report.tree->path);
    std::ranges::replace(report.shown, report.tree->name, report.tree->path);
    report.tree.reset();
  }
  counts.selected = report.table.rows.size();
  return counts;
}

void say_row_counts(const RowCounts& counts, std::string_view subject, Console& console) {
  console.message(subject, std::to_string(counts.selected) + " of " + std::to_string(counts.all) +
                               " rows match; totals are those of all rows");
}

void say_row_counts(const TableOptions& table, const RowCounts& counts, std::string_view subject,
                    Console& console) {
  if (!table.kinds.empty() || table.accepts_name) say_row_counts(counts, subject, console);
}

}  // namespace tbtrace::tools
