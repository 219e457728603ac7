#include "writers/tables/weight_text.h"

#include <array>
#include <cstddef>
#include <span>

#include <fmt/format.h>

namespace tbtrace::writers {
namespace {

/// Uses the smallest unit in which the printed number is below `step`; else the largest unit.
std::string scaled(std::int64_t weight, double step, int decimals,
                   std::span<const std::string_view> units) {
  if (static_cast<double>(weight) < step) return fmt::format("{} {}", weight, units[0]);
  auto value = static_cast<double>(weight);
  std::size_t unit = 0;
  // A number that rounds up to a full step (999.9999 us) needs the next unit: hence half_digit.
  const double half_digit = decimals == 3 ? 0.0005 : 0.005;
  do {
    value /= step;
    ++unit;
  } while (value + half_digit >= step && unit + 1 < units.size());
  return fmt::format("{:.{}f} {}", value, decimals, units[unit]);
}

}  // namespace

std::string weight_text(std::int64_t weight, std::string_view unit) {
  constexpr std::array<std::string_view, 4> kTimes = {"ns", "us", "ms", "s"};
  constexpr std::array<std::string_view, 6> kSizes = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (unit == "ns") return scaled(weight, 1000, 3, kTimes);
  if (unit == "bytes") return scaled(weight, 1024, 2, kSizes);
  return fmt::format("{} {}", weight, unit);
}

std::string exact_weight_text(std::int64_t weight, std::string_view unit) {
  std::string exact = fmt::format("{} {}", weight, unit);
  const std::string text = weight_text(weight, unit);
  return text == exact ? exact : fmt::format("{} ({})", text, exact);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "0.00 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (part > 0 && percent < 0.005) return "< 0.01 %";
  return fmt::format("{:.2f} %", percent);
}

}  // namespace tbtrace::writers
