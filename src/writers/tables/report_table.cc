#include "writers/tables/report_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/table_columns.h"
#include "writers/tables/cell_text.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/weight_text.h"

namespace tbtrace::writers {
namespace {

constexpr std::size_t kWidestText = 60;  // characters
constexpr std::size_t kWidestLine = 100;
constexpr std::size_t kMostUpright = 3;  // rows of a table that is too wide

enum class Unit : unsigned char { none, ns, bytes, percent, share, amount, rate };

struct Suffix {
  std::string_view text;
  Unit unit;
  bool in_heading;  ///< stays part of the heading
};
constexpr std::array kSuffixes = std::to_array<Suffix>({
    {"_ns", Unit::ns, false},
    {"_bytes", Unit::bytes, false},
    {"_percent", Unit::percent, false},
    {"_share", Unit::share, true},
    {"utilization", Unit::share, true},
    {"flops_per_s", Unit::rate, true},
    {"flops_per_step", Unit::amount, true},
    {"macs_in_steps", Unit::amount, true},
    {"flops_in_steps", Unit::amount, true},
    {"macs_per_sample", Unit::amount, true},
    {"macs", Unit::amount, true},
    {"flops", Unit::amount, true},
    {"parameters", Unit::amount, true},
});

const Suffix* suffix_of(std::string_view column) {
  for (const Suffix& suffix : kSuffixes) {
    if (column.ends_with(suffix.text)) return &suffix;
  }
  return column == "share" ? &kSuffixes[3] : nullptr;
}

/// The sign is separate, because 2^63 has no positive counterpart.
std::string with_unit(std::int64_t value, std::string_view unit) {
  if (value >= 0) return weight_text(value, unit);
  const std::int64_t positive = value == INT64_MIN ? INT64_MAX : -value;
  return "-" + weight_text(positive, unit);
}

std::string number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? fmt::format("{:.0f}", value)
             : fmt::format("{:.2f}", value);
}

std::string real_text(Unit unit, double value) {
  constexpr double kLargest = 9e18;
  if (!(value > -kLargest && value < kLargest)) return fmt::format("{}", value);
  switch (unit) {
    case Unit::ns:
      return with_unit(static_cast<std::int64_t>(value), "ns");
    case Unit::bytes:
      return with_unit(static_cast<std::int64_t>(value), "bytes");
    case Unit::percent:
      return fmt::format("{:.1f} %", value);
    case Unit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::amount: {
      std::string text = prefixed_number(value);
      text.erase(text.find_last_not_of(' ') + 1);
      return text;
    }
    case Unit::rate:
      return prefixed_number(value) + "FLOP/s";
    case Unit::none:
      break;
  }
  return number_text(value);
}

std::string whole_text(Unit unit, std::int64_t value) {
  if (unit == Unit::ns) return with_unit(value, "ns");
  if (unit == Unit::bytes) return with_unit(value, "bytes");
  if (unit == Unit::none) return std::to_string(value);
  return real_text(unit, static_cast<double>(value));
}

/// Control characters, and those that change the direction or the lines of a text.
bool is_unprintable(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// The code point of a well-formed character.
char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7fU >> character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

/// Text for a terminal: valid UTF-8 without characters that act on it.
std::string printable(std::string_view text) {
  const std::string valid = to_utf8(text);
  std::string result;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8_character_size(rest));
    const char32_t code = code_point(character);
    if (is_unprintable(code)) {
      result += code < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                             : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      result += character;
    }
    rest.remove_prefix(character.size());
  }
  return result;
}

/// The start and the end of a text that is too long: kernels differ in both.
std::string cut(const std::string& text) {
  const std::size_t length = utf8_length(text);
  if (length <= kWidestText) return text;
  constexpr std::size_t kEnd = 20;
  const std::string start(utf8_prefix(text, kWidestText - 3 - kEnd));
  return start + "..." + text.substr(utf8_prefix(text, length - kEnd).size());
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) ||
         std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<double>(cell);
}

struct Column {
  std::string heading;
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool is_right_aligned = true;
};

void add_cell(Column& column, std::string text) {
  column.width = std::max(column.width, utf8_length(text));
  column.cells.push_back(std::move(text));
}

std::string total_of(const TotalsLine& totals, const std::string& column) {
  for (const auto& [name, cell] : totals.cells) {
    if (name == column) return cut(shown_cell(column, cell));
  }
  return {};
}

/// nullopt if no row has a value.
std::optional<Column> column_of(const Table& table, const std::string& name) {
  const std::optional<std::size_t> number = report::column_named(table, name);
  if (!number) return std::nullopt;
  Column column;
  column.heading = heading_of(name);
  column.width = utf8_length(column.heading);
  bool any = false;
  for (const std::vector<Cell>& row : table.rows) {
    const Cell& cell = row[*number];
    const bool has_value = !std::holds_alternative<std::monostate>(cell);
    any = any || has_value;
    if (has_value && !is_number(cell)) column.is_right_aligned = false;
    add_cell(column, cut(shown_cell(name, cell)));
  }
  return any ? std::optional(std::move(column)) : std::nullopt;
}

void add_padded(std::string& line, const std::string& text, const Column& column) {
  const std::string blanks(column.width - utf8_length(text), ' ');
  line += column.is_right_aligned ? blanks + text : text + blanks;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

std::string lying(const std::vector<Column>& columns, std::size_t rows,
                  std::span<const std::string> below) {
  std::string text;
  std::string headings;
  std::string rule;
  for (const Column& column : columns) {
    if (!headings.empty()) {
      headings += "  ";
      rule += "  ";
    }
    add_padded(headings, column.heading, column);
    rule += std::string(column.width, '-');
  }
  add_line(text, headings);
  add_line(text, rule);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    for (const Column& column : columns) {
      if (&column != &columns.front()) line += "  ";
      add_padded(line, column.cells[row], column);
    }
    add_line(text, line);
    if (row < below.size()) text += below[row];
  }
  return text;
}

/// A line per column, and the rows beside each other.
std::string upright(const std::vector<Column>& columns, std::size_t rows) {
  Column headings = {.heading = {}, .cells = {}, .is_right_aligned = false};
  std::vector<Column> values(rows);
  for (const Column& column : columns) {
    headings.width = std::max(headings.width, utf8_length(column.heading));
    for (std::size_t row = 0; row < rows; ++row) {
      values[row].width = std::max(values[row].width, utf8_length(column.cells[row]));
    }
  }
  std::string text;
  for (const Column& column : columns) {
    std::string line;
    add_padded(line, column.heading, headings);
    for (std::size_t row = 0; row < rows; ++row) {
      line += "  ";
      add_padded(line, column.cells[row], values[row]);
    }
    add_line(text, line);
  }
  return text;
}

std::size_t line_width(const std::vector<Column>& columns) {
  std::size_t width = 0;
  for (const Column& column : columns) width += column.width + 2;
  return width;
}

}  // namespace

std::string heading_of(std::string_view column) {
  const Suffix* suffix = suffix_of(column);
  if (suffix != nullptr && !suffix->in_heading) column.remove_suffix(suffix->text.size());
  std::string heading(column);
  std::replace(heading.begin(), heading.end(), '_', ' ');
  return heading;
}

std::string shown_cell(std::string_view column, const Cell& cell) {
  const Suffix* suffix = suffix_of(column);
  const Unit unit = suffix == nullptr ? Unit::none : suffix->unit;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return whole_text(unit, *whole);
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) {
    return *count > static_cast<std::uint64_t>(INT64_MAX)
               ? std::to_string(*count)
               : whole_text(unit, static_cast<std::int64_t>(*count));
  }
  if (const auto* real = std::get_if<double>(&cell)) return real_text(unit, *real);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  return printable(cell_text(cell));
}

std::string report_table(const Table& table, std::span<const std::string> shown,
                         std::size_t hidden_rows, const TotalsLine* totals,
                         std::span<const std::string> below) {
  std::vector<Column> columns;
  for (const std::string& name : shown) {
    auto column = column_of(table, name);
    if (!column) continue;
    if (totals != nullptr) {
      add_cell(*column, columns.empty() ? totals->label : total_of(*totals, name));
    }
    columns.push_back(*std::move(column));
  }
  if (columns.empty()) {
    return hidden_rows == 0 ? "" : fmt::format("... and {} more rows\n", hidden_rows);
  }
  const std::size_t lines = columns.front().cells.size();
  const bool is_upright =
      below.empty() && lines <= kMostUpright && line_width(columns) > kWidestLine;
  std::string text = is_upright ? upright(columns, lines) : lying(columns, lines, below);
  if (hidden_rows > 0) text += fmt::format("... and {} more rows\n", hidden_rows);
  return text;
}

std::string report_notes(std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) text += printable(note) + "\n";
  return text;
}

std::string report_totals(std::span<const std::pair<std::string, Cell>> totals) {
  std::size_t width = 0;
  for (const auto& [name, cell] : totals) width = std::max(width, heading_of(name).size());
  std::string text;
  for (const auto& [name, cell] : totals) {
    if (std::holds_alternative<std::monostate>(cell)) continue;
    std::string heading = heading_of(name);
    heading.resize(width, ' ');
    text += heading + "  " + shown_cell(name, cell) + "\n";
  }
  return text;
}

}  // namespace tbtrace::writers
