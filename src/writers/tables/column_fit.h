// Which columns of a table fit on a line, and how wide they are.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tbtrace::writers {

/// Blanks between two columns.
inline constexpr std::size_t kColumnGap = 2;

struct ColumnWidth {
  std::size_t widest = 0;  ///< no cell is cut
  std::size_t least = 0;   ///< the same for columns of numbers, which are never cut
};

/// The widths of the first columns, as many as fit into `line` characters, but at least two.
/// Columns that can be narrower share the room that is left. 0: everything fits.
std::vector<std::size_t> fit_columns(std::span<const ColumnWidth> columns, std::size_t line);

/// `text` in at most `width` characters: its middle is replaced by `...`, because names of kernels
/// and paths differ at both ends. Of a place in code, such as `/home/me/model.py(12): forward`, the
/// first folders are, so that the file's name and the line stay.
std::string cut_middle(const std::string& text, std::size_t width);

}  // namespace tbtrace::writers
