// A table for a card in TensorBoard's Text tab: a line of Markdown, then the table as HTML.
// Markdown tables do not work there: the tab breaks lines inside words, so long names squeeze
// number columns until each digit has its own line. In <pre> lines stay whole. TensorBoard keeps
// that element, and the title of an <a>, which a browser shows when the pointer is on the name.
// Source: plugin_util.py of TensorBoard 2.21, _ALLOWED_TAGS and _ALLOWED_ATTRIBUTES.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::writers {

struct TextCard {
  std::string heading;  ///< Markdown
  Table table;          ///< may hold texts, numbers and empty cells
  std::size_t rows_left_out = 0;
  /// One per row: shown instead of the first column's text, which is then the title of the label.
  /// Empty: the texts themselves.
  std::vector<std::string> labels = {};
};

/// Empty if the table has no rows. Names and labels longer than 64 characters are shortened.
/// Doubles have the same number of decimals throughout a column, at most three. A newline in a
/// column's name splits it into lines.
std::string text_card(const TextCard& card);

}  // namespace tbtrace::writers
