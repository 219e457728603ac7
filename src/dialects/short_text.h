// A text of limited length, written piece by piece without a call for each piece and then appended
// to a string as a whole.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tbtrace::dialects {

/// The caller makes sure that it has room.
template <std::size_t kMost>
class ShortText {
 public:
  std::string_view view() const { return {text_.data(), size()}; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - text_.data()); }

  void put(std::string_view text) {
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
  }

  void put(char c) { *end_++ = c; }

  void put_integer(std::int64_t value) {
    if (value < 0) put('-');
    std::uint64_t rest = static_cast<std::uint64_t>(value);
    if (value < 0) rest = 0 - rest;
    end_ += digits_of(rest);
    char* at = end_;
    for (; rest >= 100; rest /= 100) at = put_pair(at, rest % 100);
    if (rest >= 10) {
      put_pair(at, rest);
    } else {
      at[-1] = static_cast<char>('0' + rest);
    }
  }

  /// With as many decimals as it needs.
  void put_microseconds(std::int64_t ns) {
    if (ns < 0) put('-');
    const std::int64_t whole = ns / 1000;
    put_integer(whole < 0 ? -whole : whole);
    const auto rest = static_cast<int>(ns < 0 ? -(ns % 1000) : ns % 1000);
    if (rest == 0) return;
    put('.');
    put(static_cast<char>('0' + rest / 100));
    if (rest % 100 == 0) return;
    put(static_cast<char>('0' + rest / 10 % 10));
    if (rest % 10 != 0) put(static_cast<char>('0' + rest % 10));
  }

 private:
  static std::size_t digits_of(std::uint64_t value) {
    // log10(2) is 1233/4096; that many digits are one too few from the next power of ten on.
    const int tens = std::bit_width(value | 1) * 1233 >> 12;
    return static_cast<std::size_t>(tens) + (value >= kPowersOfTen[tens] ? 1 : 0);
  }

  /// The two digits before `end`; returns where they start.
  static char* put_pair(char* end, std::uint64_t pair) {
    std::memcpy(end - 2, kPairs.data() + 2 * pair, 2);
    return end - 2;
  }

  static constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
    std::array<std::uint64_t, 20> powers = {};
    std::uint64_t power = 1;
    for (std::uint64_t& each : powers) {
      each = power;
      power *= 10;
    }
    powers[0] = 0;  // 0 has a digit
    return powers;
  }();

  static constexpr std::array<char, 200> kPairs = [] {
    std::array<char, 200> pairs = {};
    for (std::size_t pair = 0; pair < 100; ++pair) {
      pairs[2 * pair] = static_cast<char>('0' + pair / 10);
      pairs[2 * pair + 1] = static_cast<char>('0' + pair % 10);
    }
    return pairs;
  }();

  std::array<char, kMost> text_;
  char* end_ = text_.data();
};

}  // namespace tbtrace::dialects
