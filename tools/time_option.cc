#include "time_option.h"

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace tbtrace::tools {

std::optional<double> seconds_of(std::string_view text) {
  double unit = 1;
  for (const auto& [name, seconds] :
       {std::pair<std::string_view, double>("us", 1e-6), {"ms", 1e-3}, {"min", 60}, {"s", 1}}) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    unit = seconds;
    break;
  }
  const std::string number(text);
  std::size_t read = 0;
  double value = 0;
  try {
    value = std::stod(number, &read);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (read != number.size() || !(value >= 0) || value > 1e9) return std::nullopt;
  return value * unit;
}

}  // namespace tbtrace::tools
