// Cells of values that may be missing, and of texts that may be empty.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::report {

/// A cell without a value for nullopt.
template <typename Value>
Cell optional_cell(const std::optional<Value>& value) {
  return value ? Cell(*value) : Cell();
}

/// A cell without a value for an empty text.
inline Cell text_cell(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

}  // namespace tbtrace::report
