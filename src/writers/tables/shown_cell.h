// A cell and a column's name for people: numbers with units, texts safe for a terminal.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::writers {

/// A column's name without its unit, with blanks for underscores.
std::string heading_of(std::string_view column);

/// A cell, by the unit in the column's name.
std::string shown_cell(std::string_view column, const Cell& cell);

/// Whether the cell has a number, of whatever type.
bool holds_number(const Cell& cell);

/// Text for a terminal: valid UTF-8, with `\x1b` for control characters and others that act on it.
std::string printable(std::string_view text);

}  // namespace tbtrace::writers
