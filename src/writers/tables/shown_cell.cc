#include "writers/tables/shown_cell.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "base/utf8.h"
#include "writers/tables/cell_text.h"
#include "writers/tables/prefixed_number.h"
#include "writers/tables/weight_text.h"

namespace tbtrace::writers {
namespace {

enum class Unit : unsigned char { none, ns, bytes, percent, share, amount, rate, bandwidth };

struct Suffix {
  std::string_view text;
  Unit unit;
  bool in_heading;  ///< stays part of the heading
};
constexpr std::array kSuffixes = std::to_array<Suffix>({
    {"_ns", Unit::ns, false},
    {"_bytes_per_s", Unit::bandwidth, false},
    {"_bytes", Unit::bytes, false},
    {"_percent", Unit::percent, false},
    {"_share", Unit::share, true},
    {"utilization", Unit::share, true},
    {"mfu", Unit::share, true},
    {"hfu", Unit::share, true},
    {"flops_per_s", Unit::rate, true},
    {"tokens_per_s", Unit::amount, true},
    {"flops_per_step", Unit::amount, true},
    {"macs_in_steps", Unit::amount, true},
    {"flops_in_steps", Unit::amount, true},
    {"macs_per_sample", Unit::amount, true},
    {"macs", Unit::amount, true},
    {"flops", Unit::amount, true},
    {"parameters", Unit::amount, true},
});

/// `share`, `bytes`
bool is_only_the_unit(std::string_view column, const Suffix& suffix) {
  return suffix.text.starts_with('_') && column == suffix.text.substr(1);
}

const Suffix* suffix_of(std::string_view column) {
  for (const Suffix& suffix : kSuffixes) {
    if (column.ends_with(suffix.text) || is_only_the_unit(column, suffix)) return &suffix;
  }
  return nullptr;
}

/// The sign is separate, because 2^63 has no positive counterpart.
std::string with_unit(std::int64_t value, std::string_view unit) {
  if (value >= 0) return weight_text(value, unit);
  const std::int64_t positive = value == INT64_MIN ? INT64_MAX : -value;
  return "-" + weight_text(positive, unit);
}

std::string number_text(double value) {
  return value == static_cast<double>(static_cast<std::int64_t>(value))
             ? fmt::format("{:.0f}", value)
             : fmt::format("{:.2f}", value);
}

std::string real_text(Unit unit, double value) {
  constexpr double kLargest = 9e18;
  if (!(value > -kLargest && value < kLargest)) return fmt::format("{}", value);
  switch (unit) {
    case Unit::ns:
      return with_unit(static_cast<std::int64_t>(value), "ns");
    case Unit::bytes:
      return with_unit(static_cast<std::int64_t>(value), "bytes");
    case Unit::percent:
      return fmt::format("{:.1f} %", value);
    case Unit::share:
      return fmt::format("{:.1f} %", 100 * value);
    case Unit::amount: {
      std::string text = prefixed_number(value);
      text.erase(text.find_last_not_of(' ') + 1);
      return text;
    }
    case Unit::rate:
      return prefixed_number(value) + "FLOP/s";
    case Unit::bandwidth:
      return prefixed_number(value) + "B/s";
    case Unit::none:
      break;
  }
  return number_text(value);
}

std::string whole_text(Unit unit, std::int64_t value) {
  if (unit == Unit::ns) return with_unit(value, "ns");
  if (unit == Unit::bytes) return with_unit(value, "bytes");
  if (unit == Unit::none) return std::to_string(value);
  return real_text(unit, static_cast<double>(value));
}

/// Control characters, and those that change the direction or the lines of a text.
bool is_unprintable(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// The code point of a well-formed character.
char32_t code_point(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7fU >> character.size());
  for (const char c : character.substr(1))
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return code;
}

}  // namespace

std::string printable(std::string_view text) {
  const std::string valid = to_utf8(text);
  std::string result;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8_character_size(rest));
    const char32_t code = code_point(character);
    if (is_unprintable(code)) {
      result += code < 0x100 ? fmt::format("\\x{:02x}", static_cast<unsigned>(code))
                             : fmt::format("\\u{:04x}", static_cast<unsigned>(code));
    } else {
      result += character;
    }
    rest.remove_prefix(character.size());
  }
  return result;
}

std::string heading_of(std::string_view column) {
  const Suffix* suffix = suffix_of(column);
  if (suffix != nullptr && !suffix->in_heading && !is_only_the_unit(column, *suffix))
    column.remove_suffix(suffix->text.size());
  std::string heading(column == "unphased" ? "no_phase" : column);
  std::replace(heading.begin(), heading.end(), '_', ' ');
  return heading;
}

bool holds_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) ||
         std::holds_alternative<std::uint64_t>(cell) || std::holds_alternative<double>(cell);
}

std::string shown_cell(std::string_view column, const Cell& cell) {
  const Suffix* suffix = suffix_of(column);
  const Unit unit = suffix == nullptr ? Unit::none : suffix->unit;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return whole_text(unit, *whole);
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) {
    return *count > static_cast<std::uint64_t>(INT64_MAX)
               ? std::to_string(*count)
               : whole_text(unit, static_cast<std::int64_t>(*count));
  }
  if (const auto* real = std::get_if<double>(&cell)) return real_text(unit, *real);
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  return printable(cell_text(cell));
}

}  // namespace tbtrace::writers
