// A table for people: aligned columns, numbers with units, names cut to a width.
// Names come from files: control characters are written as `\x1b`.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::writers {

/// A last line of a table.
struct TotalsLine {
  std::string label;                                ///< in the first column
  std::vector<std::pair<std::string, Cell>> cells;  ///< by column
};

/// The columns named in `shown` that have a value in some row. A heading is the column's name
/// without its unit and with blanks for underscores; a text of more than 60 characters loses its
/// middle. A few rows that are too wide for a screen stand beside each other instead, with a line
/// per column. `hidden_rows`: how many more rows there are, said below the table. `below`: by row,
/// whole lines that follow it; rows that have them never stand beside each other.
std::string report_table(const Table& table, std::span<const std::string> shown,
                         std::size_t hidden_rows, const TotalsLine* totals = nullptr,
                         std::span<const std::string> below = {});

/// A line each, such as `window  1.234 s`.
std::string report_totals(std::span<const std::pair<std::string, Cell>> totals);

/// A line each, printable.
std::string report_notes(std::span<const std::string> notes);

/// A column's name for people.
std::string heading_of(std::string_view column);

/// A cell for people, by the unit in the column's name.
std::string shown_cell(std::string_view column, const Cell& cell);

}  // namespace tbtrace::writers
