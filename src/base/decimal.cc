#include "base/decimal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "base/characters.h"

namespace tbtrace {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kSafeDigits = 18;  // 10^18 - 1 is below 2^63

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kLongest = 24;  // of an integer's text

constexpr std::array<std::uint64_t, 9> kPowers = {1,      10,      100,      1000,     10000,
                                                  100000, 1000000, 10000000, 100000000};

/// Up to eight digits at once: pairs, then fours, then the whole, each step one multiplication.
/// Little-endian, like all machines that this program is built for.
bool few_digits(const char* text, std::size_t count, std::uint64_t& value) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  if (count < 8) {
    // The digits move up, and zeros come before them.
    const std::size_t shift = 8 * (8 - count);
    word = word << shift | kZeros >> (64 - shift);
  }
  // A byte is a digit if its upper half is 3 and adding 6 does not carry into it.
  if (((word & 0xf0f0f0f0f0f0f0f0) | (((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) !=
      0x3333333333333333) {
    return false;
  }
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  value = (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
  return true;
}

/// 1 to kSafeDigits digits; the text must be padded.
bool digits(const char* text, std::size_t count, std::uint64_t& value) {
  if (count <= 8) return count > 0 && few_digits(text, count, value);
  const auto append = [&](std::size_t from, std::size_t some) {
    std::uint64_t next;
    if (!few_digits(text + from, some, next)) return false;
    value = value * kPowers[some] + next;
    return true;
  };
  return few_digits(text, 8, value) && append(8, std::min<std::size_t>(count - 8, 8)) &&
         (count <= 16 || append(16, count - 16));
}

/// Leading zeros before other digits are not allowed in JSON numbers.
bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

/// The most common form: 1 to 8 digits and nothing else. If false, the text may still be a number.
bool short_number(std::string_view text, std::uint64_t& value) {
  const bool is_short = text.size() - 1 < 8 && (text[0] != '0' || text.size() == 1);
  return is_short && few_digits(text.data(), text.size(), value);
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
std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > 20) return std::nullopt;
  std::uint64_t value;
  if (text.size() <= kSafeDigits) {
    if (!digits(text.data(), text.size(), value)) return std::nullopt;
  } else {
    std::uint64_t head;
    std::uint64_t tail;
    if (!digits(text.data(), kSafeDigits, head) ||
        !digits(text.data() + kSafeDigits, text.size() - kSafeDigits, tail)) {
      return std::nullopt;
    }
    const std::uint64_t shift = text.size() == 19 ? 10 : 100;
    if (head > (kMost - tail) / shift) return std::nullopt;
    value = head * shift + tail;
  }
  if (!negative) return static_cast<std::int64_t>(value);
  if (value > static_cast<std::uint64_t>(kMax) + 1) return std::nullopt;
  return static_cast<std::int64_t>(0 - value);
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

[[gnu::noinline]] std::optional<std::int64_t> other_integer(std::string_view text) {
  return has_leading_zero(text.starts_with('-') ? text.substr(1) : text) ? std::nullopt
                                                                         : integer_of(text);
}

[[gnu::noinline]] std::optional<std::int64_t> other_id(std::string_view text) {
  if (const auto plain = other_integer(text)) return plain;
  if (text.find_first_of(".eE") == std::string_view::npos) return std::nullopt;
  const std::optional<Decimal> number = take_apart(text);
  if (!number || number->is_cut) return std::nullopt;
  return whole_number(*number);
}

[[gnu::noinline]] std::optional<std::int64_t> other_microseconds(std::string_view text) {
  // Whole microseconds with this many digits fit as nanoseconds, except the largest.
  constexpr std::size_t kLongestPlain = 16;
  constexpr std::uint64_t kTooLarge = static_cast<std::uint64_t>(kMax) / 1000;
  const std::size_t size = text.size();
  if (has_leading_zero(text)) return std::nullopt;
  std::uint64_t whole;
  std::uint64_t thousandths;
  // The two forms that torch writes: three decimals, and none.
  if (size > 4 && size <= kLongestPlain + 4 && text[size - 4] == '.' &&
      digits(text.data() + size - 3, 3, thousandths) && digits(text.data(), size - 4, whole) &&
      whole < kTooLarge) {
    return static_cast<std::int64_t>(whole * 1000 + thousandths);
  }
  if (size > 0 && size <= kLongestPlain && digits(text.data(), size, whole) && whole < kTooLarge) {
    return static_cast<std::int64_t>(whole * 1000);
  }
  const std::optional<Decimal> number = take_apart(text);
  return number ? scaled(*number, 3) : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_padded_integer(std::string_view text) {
  std::uint64_t value;
  return short_number(text, value) ? static_cast<std::int64_t>(value) : other_integer(text);
}

std::optional<std::int64_t> parse_padded_id(std::string_view text) {
  std::uint64_t value;
  return short_number(text, value) ? static_cast<std::int64_t>(value) : other_id(text);
}

std::optional<std::int64_t> parse_padded_microseconds(std::string_view text) {
  std::uint64_t value;
  return short_number(text, value) ? static_cast<std::int64_t>(value * 1000)
                                   : other_microseconds(text);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::array<char, kLongest + 8> padded = {};
  if (text.size() > kLongest) return std::nullopt;
  std::copy(text.begin(), text.end(), padded.begin());
  return integer_of({padded.data(), text.size()});
}

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  std::string padded(text);
  padded.append(8, '\0');
  return parse_padded_microseconds({padded.data(), text.size()});
}

}  // namespace tbtrace
