// A text of limited length, written piece by piece without a call for each piece and then appended
// to a string as a whole.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tbtrace::chrome {

/// The caller makes sure that it has room.
template <std::size_t kMost>
class ShortText {
 public:
  ShortText() = default;
  ShortText(const ShortText&) = delete;
  ShortText& operator=(const ShortText&) = delete;
  ~ShortText() = default;

  std::string_view view() const { return {text_.data(), size()}; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - text_.data()); }

  void put(std::string_view text) {
    assert(size() + text.size() <= kMost);
    end_ = std::copy(text.begin(), text.end(), end_);
  }

  void put(char c) { *end_++ = c; }

  void put_integer(std::int64_t value) {
    constexpr std::ptrdiff_t kLongest = 20;
    end_ = std::to_chars(end_, end_ + kLongest, value).ptr;
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
  std::array<char, kMost> text_;
  char* end_ = text_.data();
};

}  // namespace tbtrace::chrome
