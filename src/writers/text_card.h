// A table for a card of TensorBoard's Text tab: a line of Markdown above it, the table as HTML.
// Markdown tables do not work there: the tab breaks lines inside words, so that long names squeeze
// numbers until each digit has a line of its own. In <pre> they stay whole; TensorBoard keeps that
// element, and the title of an <a>, which a browser shows when the pointer rests on the name.
// Source: plugin_util.py of TensorBoard 2.21, _ALLOWED_TAGS and _ALLOWED_ATTRIBUTES.
#pragma once

#include <cstddef>
#include <string>

#include <tbtrace/report.h>

namespace tbtrace::writers {

struct TextCard {
  std::string heading;  ///< Markdown
  Table table;          ///< of texts, numbers and cells without a value
  std::size_t rows_left_out = 0;
};

/// Empty if the table has no rows. Names of more than 64 characters are shortened. Doubles get the
/// same number of digits throughout a column, at most three. A newline in a column's name parts it
/// into lines.
std::string text_card(const TextCard& card);

}  // namespace tbtrace::writers
