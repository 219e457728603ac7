// Finds a total of a report by its name.
#pragma once

#include <algorithm>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::report {

/// A pointer to the cell of the total; nullptr if there is none. `Totals` may be const.
template <typename Totals>
auto total_named(Totals& totals, std::string_view name) -> decltype(&totals.front().second) {
  const auto found = std::find_if(totals.begin(), totals.end(),
                                  [&](const auto& total) { return total.first == name; });
  return found == totals.end() ? nullptr : &found->second;
}

}  // namespace tbtrace::report
