#include "writers/tables/prefixed_number.h"

#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace tbtrace::writers {

std::string prefixed_number(double value) {
  constexpr std::string_view kPrefixes = " kMGTPEZ";
  constexpr double kRoundsToThousand = 999.5;
  std::size_t prefix = 0;
  while (value >= kRoundsToThousand && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  if (prefix == 0) return fmt::format("{:.3g} ", value);
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, kPrefixes[prefix]);
}

}  // namespace tbtrace::writers
