// Finds a column of a table by its name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::report {

inline std::optional<std::size_t> column_named(const Table& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

}  // namespace tbtrace::report
