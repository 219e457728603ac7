#include "base/decimal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>

#include "base/characters.h"

namespace tbtrace {
namespace {

using decimal_detail::few_digits;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kSafeDigits = 18;  // 10^18 - 1 is below 2^63

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLongest = 24;  // of an integer's text

/// 1 to kSafeDigits digits; the text must be padded.
inline bool digits(const char* text, std::size_t count, std::uint64_t& value) {
  constexpr std::uint64_t kEightDigits = 100'000'000;
  if (count <= 8) return count > 0 && few_digits(text, count, value);
  // The last eight are a whole word, and so are those before them.
  std::uint64_t head;
  std::uint64_t tail;
  if (!few_digits(text + count - 8, 8, tail)) return false;
  count -= 8;
  if (count <= 8) {
    if (!few_digits(text, count, head)) return false;
  } else {
    std::uint64_t first;
    if (!few_digits(text, count - 8, first) || !few_digits(text + count - 8, 8, head)) return false;
    head += first * kEightDigits;
  }
  value = head * kEightDigits + tail;
  return true;
}

/// Leading zeros before other digits are not allowed in JSON numbers.
bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

/// A decimal number, parsed: `digits` * 10^`exponent`; dropped digits only affect rounding.
struct Decimal {
  bool negative = false;
  bool rounds_up = false;  // the first dropped digit is 5 or more
  bool is_cut = false;     // a digit other than 0 was dropped
  std::uint64_t digits = 0;
  int exponent = 0;
};

std::optional<Decimal> take_apart(std::string_view text) {
  Decimal number;
  std::size_t at = 0;
  if (text.starts_with('-')) {
    number.negative = true;
    ++at;
  }
  if (at == text.size() || !is_digit(text[at]) || has_leading_zero(text.substr(at))) {
    return std::nullopt;
  }
  bool point = false;
  bool is_full = false;
  int exponent = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(c)) break;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (!is_full && number.digits <= (kMost - digit) / 10) {
      number.digits = number.digits * 10 + digit;
      if (point) --exponent;
    } else {
      if (!is_full) number.rounds_up = c >= '5';
      is_full = true;
      number.is_cut = number.is_cut || c != '0';
      if (!point) ++exponent;
    }
  }
  if (!is_digit(text[at - 1])) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    bool down = false;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) down = text[at++] == '-';
    constexpr int kFar = 100'000'000;  // whatever the digits are, the number is 0 or too large
    int written = 0;
    if (at == text.size()) return std::nullopt;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      written = std::min(written * 10 + (text[at] - '0'), kFar);
    }
    exponent += down ? -written : written;
  }
  if (at != text.size()) return std::nullopt;
  number.exponent = exponent;
  return number;
}

/// 1 to 20 digits, optionally with a minus sign; the text must be padded.
bool integer_of(std::string_view text, std::int64_t& result) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 20) return false;
  std::uint64_t value;
  if (text.size() <= kSafeDigits) {
    if (!digits(text.data(), text.size(), value)) return false;
  } else {
    std::uint64_t head;
    std::uint64_t tail;
    if (!digits(text.data(), kSafeDigits, head) ||
        !digits(text.data() + kSafeDigits, text.size() - kSafeDigits, tail)) {
      return false;
    }
    const std::uint64_t shift = text.size() == 19 ? 10 : 100;
    if (head > (kMost - tail) / shift) return false;
    value = head * shift + tail;
  }
  if (negative && value > static_cast<std::uint64_t>(kMax) + 1) return false;
  result = static_cast<std::int64_t>(negative ? 0 - value : value);
  return true;
}

/// The number if it is whole; up to 2^64-1, as for an integer's text.
std::optional<std::int64_t> whole_number(const Decimal& number) {
  std::uint64_t value = number.digits;
  for (int exponent = number.exponent; exponent < 0 && value != 0; ++exponent) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  for (int exponent = number.exponent; exponent > 0 && value != 0; --exponent) {
    if (value > kMost / 10) return std::nullopt;
    value *= 10;
  }
  if (!number.negative) return static_cast<std::int64_t>(value);
  if (value > static_cast<std::uint64_t>(kMax) + 1) return std::nullopt;
  return static_cast<std::int64_t>(0 - value);
}

std::optional<std::int64_t> scaled(const Decimal& number, int power) {
  std::uint64_t value = number.digits;
  int exponent = number.exponent + power;
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > static_cast<std::uint64_t>(kMax) / 10) return std::nullopt;
    value *= 10;
  }
  bool up = number.rounds_up;
  for (; exponent < 0 && (value != 0 || up); ++exponent) {
    up = value % 10 >= 5;
    value /= 10;
  }
  const std::uint64_t limit = static_cast<std::uint64_t>(kMax) + (number.negative ? 1 : 0);
  if (value > limit - (up ? 1 : 0)) return std::nullopt;
  if (up) ++value;
  return static_cast<std::int64_t>(number.negative ? 0 - value : value);
}

}  // namespace

namespace decimal_detail {

bool other_integer(std::string_view text, std::int64_t& value) {
  return !has_leading_zero(text.starts_with('-') ? text.substr(1) : text) &&
         integer_of(text, value);
}

bool other_id(std::string_view text, std::int64_t& value) {
  if (other_integer(text, value)) return true;
  if (text.find_first_of(".eE") == std::string_view::npos) return false;
  const std::optional<Decimal> number = take_apart(text);
  if (!number || number->is_cut) return false;
  const std::optional<std::int64_t> whole = whole_number(*number);
  if (whole) value = *whole;
  return whole.has_value();
}

bool other_microseconds(std::string_view text, std::int64_t& ns) {
  // Whole microseconds with this many digits fit as nanoseconds, except the largest.
  constexpr std::size_t kLongestPlain = 16;
  constexpr std::uint64_t kTooLarge = static_cast<std::uint64_t>(kMax) / 1000;
  const std::size_t size = text.size();
  if (has_leading_zero(text)) return false;
  std::uint64_t whole;
  std::uint64_t thousandths;
  // The two forms that torch writes: three decimals, and none.
  if (size > 4 && size <= kLongestPlain + 4 && text[size - 4] == '.' &&
      digits(text.data() + size - 3, 3, thousandths) && digits(text.data(), size - 4, whole) &&
      whole < kTooLarge) {
    ns = static_cast<std::int64_t>(whole * 1000 + thousandths);
    return true;
  }
  if (size > 0 && size <= kLongestPlain && digits(text.data(), size, whole) && whole < kTooLarge) {
    ns = static_cast<std::int64_t>(whole * 1000);
    return true;
  }
  const std::optional<Decimal> number = take_apart(text);
  const std::optional<std::int64_t> rounded = number ? scaled(*number, 3) : std::nullopt;
  if (rounded) ns = *rounded;
  return rounded.has_value();
}

}  // namespace decimal_detail

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::array<char, kLongest + 8> padded = {};
  if (text.size() > kLongest) return std::nullopt;
  std::copy(text.begin(), text.end(), padded.begin());
  std::int64_t value;
  return integer_of({padded.data(), text.size()}, value) ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  std::string padded(text);
  padded.append(8, '\0');
  std::int64_t ns;
  return parse_padded_microseconds({padded.data(), text.size()}, ns) ? std::optional(ns)
                                                                     : std::nullopt;
}

}  // namespace tbtrace
