#include "report/duration.h"

#include <array>
#include <string_view>
#include <utility>

namespace tbtrace::report {

std::string duration_text(std::int64_t ns) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kUnits = {
      {{" s", 1'000'000'000}, {" ms", 1'000'000}, {" us", 1000}}};
  for (const auto& [name, unit] : kUnits) {
    if (ns < unit) continue;
    const std::int64_t digit = unit / 1000;
    const std::int64_t thousandths = ns / digit + (ns % digit * 2 >= digit ? 1 : 0);
    return std::to_string(thousandths / 1000) + "." +
           std::to_string(1000 + thousandths % 1000).substr(1) + std::string(name);
  }
  return std::to_string(ns) + " ns";
}

}  // namespace tbtrace::report
