// Values as bytes, one after another: numbers as eight bytes, the lowest first; texts with their
// length before them.
// A writer owns its bytes, a reader borrows them. One thread per object. A reader that is at the
// end gives zeros and empty texts, and is not ok() any more.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace tbtrace::recorder::journal {

static_assert(std::endian::native == std::endian::little);

class FieldWriter {
 public:
  template <typename Number>
  requires std::is_integral_v<Number> FieldWriter& put(Number number) {
    const auto word = static_cast<std::uint64_t>(static_cast<std::int64_t>(number));
    bytes_.append(reinterpret_cast<const char*>(&word), sizeof word);
    return *this;
  }
  FieldWriter& put(std::string_view text) {
    put(text.size());
    bytes_ += text;
    return *this;
  }
  template <typename Value>
  FieldWriter& put(const std::optional<Value>& value) {
    put(value.has_value());
    return value ? put(*value) : *this;
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  template <typename Number>
  Number number() {
    std::uint64_t word = 0;
    if (left_.size() < sizeof word) {
      ok_ = false;
    } else {
      std::memcpy(&word, left_.data(), sizeof word);
      left_.remove_prefix(sizeof word);
    }
    if constexpr (std::is_same_v<Number, bool>) {
      return word != 0;
    } else {
      return static_cast<Number>(word);
    }
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    if (size > left_.size()) {
      ok_ = false;
      left_ = {};
      return {};
    }
    std::string text(left_.substr(0, static_cast<std::size_t>(size)));
    left_.remove_prefix(text.size());
    return text;
  }
  template <typename Number>
  std::optional<Number> maybe_number() {
    return number<bool>() ? std::optional(number<Number>()) : std::nullopt;
  }
  std::optional<std::string> maybe_text() {
    return number<bool>() ? std::optional(text()) : std::nullopt;
  }
  /// How many members of at least so many bytes follow; 0 where there cannot be so many.
  std::size_t count(std::size_t least_bytes) {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / least_bytes) ok_ = false;
    return ok_ ? static_cast<std::size_t>(count) : 0;
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

}  // namespace tbtrace::recorder::journal
