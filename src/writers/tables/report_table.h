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

#include "writers/tables/shown_cell.h"

namespace tbtrace::writers {

/// A last line of a table.
struct TotalsLine {
  std::string label;                                ///< in the first column
  std::vector<std::pair<std::string, Cell>> cells;  ///< by column
};

/// How much of a table is shown.
struct TextLayout {
  std::size_t width = 0;              ///< characters of a line; 0: no limit
  std::size_t hidden_rows = 0;        ///< that are not in the table, said below it
  std::size_t hidden_columns = 0;     ///< that are not in `shown`, said as well
  std::string_view column_hint = {};  ///< follows `9 more columns`, such as `--wide shows all`
};

/// The columns named in `shown` that have a value in some row. A heading is the column's name
/// without its unit and with blanks for underscores; a text of more than 60 characters loses its
/// middle. If a line is too short, texts are cut to 24 characters, or to as many as tell them
/// apart, then the last columns are left out and counted below the table. `below`: by row, whole
/// lines that follow it.
std::string report_table(const Table& table, std::span<const std::string> shown,
                         const TextLayout& layout, const TotalsLine* totals = nullptr,
                         std::span<const std::string> below = {});

/// Whether any row has a value in this column.
bool has_values(const Table& table, std::size_t column);

/// A line each, such as `window  1.234 s`.
std::string report_totals(std::span<const std::pair<std::string, Cell>> totals);

/// A line each, printable.
std::string report_notes(std::span<const std::string> notes);

}  // namespace tbtrace::writers
