#include "writers/tables/column_fit.h"

#include <algorithm>
#include <numeric>
#include <optional>
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

constexpr std::string_view kMark = "...";

/// A place in code, `/home/me/model.py(12): forward` or `/home/me/model.py`, by its indices.
struct CodePlaceParts {
  std::size_t file = 0;      ///< where the file's name begins
  std::size_t name_end = 0;  ///< after the name, where `(12)` begins
  std::size_t end = 0;       ///< after it and its line
};

std::optional<CodePlaceParts> parts_of_place(std::string_view text) {
  std::size_t file_end = text.ends_with(".py") ? text.size() : std::string_view::npos;
  std::size_t end = text.size();
  for (std::size_t open = text.find(".py("); file_end > text.size() && open < text.size();
       open = text.find(".py(", open + 1)) {
    const std::size_t line = open + std::string_view(".py(").size();
    const std::size_t close = text.find_first_not_of("0123456789", line);
    if (close >= text.size() || close == line || text[close] != ')') continue;
    file_end = line - 1;
    end = close + 1;
  }
  if (file_end > text.size()) return std::nullopt;
  const std::size_t separator = text.substr(0, file_end).find_last_of("/\\");
  return CodePlaceParts{separator == std::string_view::npos ? 0 : separator + 1, file_end, end};
}

std::string without_middle(const std::string& text, std::size_t width) {
  if (width <= kMark.size()) return std::string(utf8_prefix(text, width));
  const std::size_t end = width / 3;
  std::string result(utf8_prefix(text, width - kMark.size() - end));
  result += kMark;
  return result + text.substr(utf8_prefix(text, utf8_length(text) - end).size());
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
  const std::size_t length = utf8_length(text);
  if (length <= width) return text;
  const std::optional<CodePlaceParts> parts = parts_of_place(text);
  if (!parts) return without_middle(text, width);
  std::string place = text.substr(parts->file);
  const std::size_t place_length = utf8_length(place);
  if (place_length + kMark.size() <= width) {
    const std::string_view left = utf8_prefix(text, length - (width - kMark.size()));
    return std::string(kMark) + text.substr(left.size());
  }
  if (place_length <= width) return place;
  const std::string line = text.substr(parts->file, parts->end - parts->file);
  // The name of a file can be told from its beginning, a line not without its number.
  const std::string number = text.substr(parts->name_end, parts->end - parts->name_end);
  constexpr std::size_t kLeastName = 4;
  if (!number.empty() && utf8_length(line) + kMark.size() > width &&
      number.size() + kMark.size() + kLeastName <= width) {
    const std::string name = text.substr(parts->file, parts->name_end - parts->file);
    return std::string(utf8_prefix(name, width - kMark.size() - number.size())) +
           std::string(kMark) + number;
  }
  if (utf8_length(line) + kMark.size() > width) return without_middle(place, width);
  return std::string(utf8_prefix(place, width - kMark.size())) + std::string(kMark);
}

}  // namespace tbtrace::writers
