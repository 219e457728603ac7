#include "writers/tables/text_card.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "wire/xml.h"
#include "writers/tables/cell_text.h"
#include "writers/tables/short_names.h"

namespace tbtrace::writers {
namespace {

constexpr std::size_t kNameLength = 64;
constexpr std::size_t kTitleLength = 1000;
constexpr std::size_t kComparedLength = 4000;  // of names; longer ones are rare

using Texts = std::vector<std::string>;

/// The text as a page shows it: one blank for runs of blanks and for control characters, which
/// Python's Markdown uses internally, and without bytes that are not UTF-8.
std::string on_one_line(std::string_view text) {
  std::string printed;
  for (const char c : to_utf8(utf8_prefix(text, kComparedLength))) {
    const bool is_blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    if (is_blank && printed.ends_with(' ')) continue;
    printed += is_blank ? ' ' : c;
  }
  return printed;
}

/// Numbers different names that would look the same on a page.
Texts printable_names(const Texts& full) {
  // By the name on one line and the name itself.
  std::map<std::string, std::map<std::string, std::size_t>> names;
  Texts printed;
  for (const std::string& name : full) {
    std::string text = on_one_line(name);
    auto& alike = names[text];
    const std::size_t number = alike.try_emplace(name, alike.size() + 1).first->second;
    if (number > 1) text += fmt::format(" #{}", number);
    printed.push_back(std::move(text));
  }
  return printed;
}

/// `labels`: what to show instead; empty: the names.
Texts names(const Texts& as_they_are, const Texts& as_labels) {
  const Texts full = printable_names(as_they_are);
  const Texts labels =
      short_names(as_labels.empty() ? full : printable_names(as_labels), kNameLength);
  Texts cells;
  for (std::size_t row = 0; row < full.size(); ++row) {
    std::string& cell = cells.emplace_back();
    if (full[row].empty()) {
      cell = "(no name)";
      continue;
    }
    const bool is_short = labels[row] != full[row];
    if (is_short) {
      cell += "<a title=\"";
      wire::append_xml_attribute(cell, utf8_prefix(full[row], kTitleLength));
      cell += "\">";
    }
    cell += "<code>";
    wire::append_xml_text(cell, labels[row]);
    cell += is_short ? "</code></a>" : "</code>";
  }
  return cells;
}

/// Number of decimals that the column needs.
int digits_of(const Table& table, std::size_t column) {
  std::size_t digits = 0;
  for (const std::vector<Cell>& row : table.rows) {
    const auto* const number = std::get_if<double>(&row[column]);
    if (number == nullptr) continue;
    std::string text = fmt::format("{:.3f}", *number);
    text.erase(text.find_last_not_of('0') + 1);
    const std::size_t point = text.find('.');
    if (point != std::string::npos) digits = std::max(digits, text.size() - point - 1);
  }
  return static_cast<int>(digits);
}

/// All as wide as the widest, right-aligned.
Texts numbers(const Table& table, std::size_t column) {
  const int digits = digits_of(table, column);
  Texts cells;
  std::size_t width = 0;
  for (const std::vector<Cell>& row : table.rows) {
    const auto* const number = std::get_if<double>(&row[column]);
    cells.push_back(number == nullptr ? cell_text(row[column])
                                      : fmt::format("{:.{}f}", *number, digits));
    width = std::max(width, cells.back().size());
  }
  for (std::string& cell : cells) cell = fmt::format("<pre>{:>{}}</pre>", cell, width);
  return cells;
}

Texts cells_of(const TextCard& card, std::size_t column) {
  const Table& table = card.table;
  if (!std::holds_alternative<std::string>(table.rows.front()[column])) {
    return numbers(table, column);
  }
  Texts full;
  for (const std::vector<Cell>& row : table.rows)
    full.push_back(std::get<std::string>(row[column]));
  return names(full, column == 0 ? card.labels : Texts());
}

}  // namespace

std::string text_card(const TextCard& card) {
  const Table& table = card.table;
  if (table.rows.empty()) return {};
  std::string text = card.heading + "\n\n<table>\n<thead><tr>";
  std::vector<Texts> columns;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    columns.push_back(cells_of(card, column));
    text += "<th><pre>";
    wire::append_xml_text(text, table.columns[column]);
    text += "</pre></th>";
  }
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text += "<tr>";
    for (const Texts& cells : columns) text += "<td>" + cells[row] + "</td>";
    text += "</tr>\n";
  }
  text += "</tbody>\n</table>\n";
  if (card.rows_left_out > 0) {
    text += fmt::format("\n{} more row{} not shown.\n", card.rows_left_out,
                        card.rows_left_out == 1 ? " is" : "s are");
  }
  return text;
}

}  // namespace tbtrace::writers
