// The value of a cell as plain text, for formats without types.
#pragma once

#include <string>

#include <tbtrace/report.h>

namespace tbtrace::writers {

/// Numbers in decimal, `true` and `false`, lists joined by `;`, an empty text for no value.
std::string cell_text(const Cell& cell);

/// No value, zero, false, or empty.
bool is_blank(const Cell& cell);

}  // namespace tbtrace::writers
