#include "report/source_column.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "report/table_columns.h"

namespace tbtrace {
namespace {

constexpr std::size_t kMostNamed = 5;

std::string missing_note(const std::set<std::string>& files) {
  std::string note = files.size() == 1 ? "1 file is" : std::to_string(files.size()) + " files are";
  note += " not below the root of source files, or not readable: ";
  std::size_t named = 0;
  for (const std::string& file : files) {
    if (named == kMostNamed) break;
    if (named++ > 0) note += ", ";
    note += file;
  }
  if (files.size() > named) note += " and " + std::to_string(files.size() - named) + " more";
  return note + ".";
}

}  // namespace

void report::add_source_column(AnalysisReport& report, io::SourceLines& lines) {
  Table& table = report.table;
  const auto file = column_named(table, "file");
  const auto line = column_named(table, "line");
  if (!file || !line) return;
  table.columns.emplace_back("source");
  const auto after = std::ranges::find(report.shown, "line");
  report.shown.insert(after == report.shown.end() ? after : after + 1, "source");
  std::set<std::string> missing;
  for (std::vector<Cell>& row : table.rows) {
    std::optional<std::string> text;
    const auto* const name = std::get_if<std::string>(&row[*file]);
    const auto* const number = std::get_if<std::int64_t>(&row[*line]);
    if (name != nullptr && number != nullptr) {
      text = lines.line(*name, *number);
      if (!lines.has(*name)) missing.insert(*name);
    }
    row.push_back(text ? Cell(*std::move(text)) : Cell());
  }
  if (!missing.empty()) report.notes.push_back(missing_note(missing));
}

Result<AnalysisReport> report::with_source(Result<AnalysisReport> report,
                                           const OptionValues& options) {
  const std::string root = options.text("source_root");
  if (root.empty() || !report.ok()) return report;
  Result<io::SourceLines> lines = io::SourceLines::below(root);
  if (!lines.ok()) return lines.status();
  add_source_column(*report, *lines);
  return report;
}

}  // namespace tbtrace
