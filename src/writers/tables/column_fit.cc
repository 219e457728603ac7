#include "writers/tables/column_fit.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/utf8.h"

namespace tbtrace::writers {
namespace {

constexpr std::size_t kFewestColumns = 2;

/// How many columns fit if each is as narrow as it can be.
std::size_t columns_that_fit(std::span<const ColumnWidth> columns, std::size_t line) {
  std::size_t used = 0;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    used += columns[column].least + (column == 0 ? 0 : kColumnGap);
    if (used > line && column >= kFewestColumns) return column;
  }
  return columns.size();
}

}  // namespace

std::vector<std::size_t> fit_columns(std::span<const ColumnWidth> columns, std::size_t line) {
  std::vector<std::size_t> widths;
  if (line == 0) {
    for (const ColumnWidth& column : columns) widths.push_back(column.widest);
    return widths;
  }
  columns = columns.first(columns_that_fit(columns, line));
  std::size_t used = columns.empty() ? 0 : kColumnGap * (columns.size() - 1);
  for (const ColumnWidth& column : columns) {
    widths.push_back(column.least);
    used += column.least;
  }
  std::size_t left = line > used ? line - used : 0;
  // Those that lack least come first: what they do not need is left for the others.
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto lacks = [&](std::size_t column) {
    return columns[column].widest - columns[column].least;
  };
  std::ranges::stable_sort(order, {}, lacks);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t more = std::min(lacks(order[place]), left / (order.size() - place));
    widths[order[place]] += more;
    left -= more;
  }
  return widths;
}

std::string cut_middle(const std::string& text, std::size_t width) {
  constexpr std::string_view kMark = "...";
  const std::size_t length = utf8_length(text);
  if (length <= width) return text;
  if (width <= kMark.size()) return std::string(utf8_prefix(text, width));
  const std::size_t end = width / 3;
  std::string result(utf8_prefix(text, width - kMark.size() - end));
  result += kMark;
  return result + text.substr(utf8_prefix(text, length - end).size());
}

}  // namespace tbtrace::writers
