#include "wire/json_strict.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/characters.h"
#include "base/utf8.h"
#include "wire/json_blanks.h"
#include "wire/json_text.h"

namespace tbtrace::wire {
namespace {

constexpr std::size_t kDeepest = 900;

bool is_literal(std::string_view word) {
  return word == "true" || word == "false" || word == "null";
}

bool is_not_finite(std::string_view word) {
  return word == "NaN" || word == "Infinity" || word == "-Infinity";
}

constexpr std::ptrdiff_t kMostDigits = 40;  // of a number without an exponent

/// The one text of a number's value, to its last digit: `1e3` and `1000.0` are `1000`. In `spare`
/// unless the number is that text.
std::string_view canonical_number(std::string_view number, std::string& spare) {
  const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, exponent_at);
  const std::size_t dot = mantissa.find('.');
  const bool is_integer = exponent_at == number.size() && dot == std::string_view::npos;
  if (is_integer && std::ssize(number) <= kMostDigits && number != "-0") return number;
  std::string digits;
  std::ptrdiff_t point = 0;  // digits before it; negative: zeros after it that are not in `digits`
  bool is_fraction = false;
  for (const char c : mantissa) {
    if (c == '.') is_fraction = true;
    if (!is_digit(c)) continue;
    const bool is_leading_zero = c == '0' && digits.empty();
    if (!is_leading_zero) digits.push_back(c);
    if (is_fraction && is_leading_zero) --point;
    if (!is_fraction && !is_leading_zero) ++point;
  }
  if (digits.empty()) return "0";
  if (exponent_at < number.size()) {
    std::string_view exponent = number.substr(exponent_at + 1);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int32_t power = 0;
    const auto read = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
    if (read.ec != std::errc()) return number;
    point += power;
  }
  digits.erase(digits.find_last_not_of('0') + 1);
  spare.assign(number.starts_with('-') ? "-" : "");
  const std::ptrdiff_t count = std::ssize(digits);
  const auto zeros = [&](std::ptrdiff_t some) {
    spare.append(static_cast<std::size_t>(some), '0');
  };
  if (point > kMostDigits || point - count < -kMostDigits) {
    spare += digits[0];
    if (count > 1) spare += '.';
    spare.append(digits, 1);
    spare += 'e';
    return spare += std::to_string(point - 1);
  }
  if (point <= 0) {
    spare += "0.";
    zeros(-point);
    return spare += digits;
  }
  const auto whole = static_cast<std::size_t>(std::min(point, count));
  spare.append(digits, 0, whole);
  zeros(point - static_cast<std::ptrdiff_t>(whole));
  if (count > point) spare += '.';
  return spare.append(digits, whole);
}

class Copier {
 public:
  enum class Numbers : std::uint8_t { as_written, canonical };

  Copier(std::string& json, std::string_view text, bool spaced, Numbers numbers)
      : json_(json),
        text_(text),
        spaced_(spaced),
        numbers_(numbers),
        start_(json.size()),
        end_(start_) {
    make_room(0);
  }

  /// Where the copy ends, once it has run.
  std::size_t end() const { return end_; }

  bool is_repaired() const { return is_repaired_; }

  bool run() {
    for (;;) {
      skip_space();
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        if (closing_.size() == kDeepest) return false;
        ++at_;
        put(c);
        closing_ += c == '{' ? '}' : ']';
        skip_space();
        if (at_ < text_.size() && text_[at_] == closing_.back()) {
          close();
        } else {
          if (in_object() && !key()) return false;
          continue;
        }
      } else if (!scalar(c)) {
        return false;
      }
      // After a value.
      for (;;) {
        skip_space();
        if (closing_.empty()) return at_ == text_.size();
        if (at_ == text_.size()) return false;
        if (text_[at_] != closing_.back()) break;
        close();
      }
      if (text_[at_++] != ',') return false;
      put(',');
      if (spaced_) put(' ');
      if (in_object() && !key()) return false;
    }
  }

 private:
  /// Room for `size` bytes and then the rest of the text, so that put() need not look. Grows by
  /// what it has already, so that many calls take no more time than their texts.
  void make_room(std::size_t size) {
    const std::size_t rest = text_.size() - at_;
    const std::size_t needed = end_ - start_ + size + (spaced_ ? 2 * rest : rest);
    if (start_ + needed > json_.size()) json_.resize(start_ + needed + (end_ - start_));
  }
  void put(char c) { json_[end_++] = c; }
  void put(std::string_view piece) {
    piece.copy(json_.data() + end_, piece.size());
    end_ += piece.size();
  }

  void skip_space() { at_ = skip_json_blanks(text_, at_); }
  bool in_object() const { return closing_.back() == '}'; }

  void close() {
    put(closing_.back());
    closing_.pop_back();
    ++at_;
  }

  bool key() {
    skip_space();
    if (at_ == text_.size() || text_[at_] != '"' || !string()) return false;
    skip_space();
    if (at_ == text_.size() || text_[at_] != ':') return false;
    ++at_;
    put(':');
    if (spaced_) put(' ');
    return true;
  }

  bool scalar(char c) {
    if (c == '"') return string();
    const std::size_t start = at_;
    while (at_ < text_.size() && !ends_json_scalar(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (is_literal(word)) {
      put(word);
      return true;
    }
    const bool is_canonical = numbers_ == Numbers::canonical;
    if (is_json_number(word)) {
      const std::string_view number = is_canonical ? canonical_number(word, spare_) : word;
      make_room(number.size());
      put(number);
      return true;
    }
    if (!is_canonical || !is_not_finite(word)) return false;
    put(word);
    return true;
  }

  bool string() {
    const std::size_t start = ++at_;
    bool plain = true;
    for (;; ++at_) {
      if (at_ == text_.size()) return false;
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\' && static_cast<unsigned char>(c) < 0x80) continue;
      plain = false;
      if (c != '\\') continue;
      if (++at_ == text_.size()) return false;
    }
    const std::string_view content = text_.substr(start, at_ - start);
    ++at_;
    if (plain) {
      put('"');
      put(content);
      put('"');
      return true;
    }
    std::string meaning;
    const Escapes escapes = append_unescaped(meaning, content);
    if (escapes == Escapes::unknown) return false;
    is_repaired_ = is_repaired_ || escapes == Escapes::unpaired;
    if (!is_utf8(meaning)) return false;
    std::string copy;
    append_json_string(copy, meaning);
    make_room(copy.size());
    put(copy);
    return true;
  }

  std::string& json_;
  std::string_view text_;
  bool spaced_;
  Numbers numbers_;
  std::size_t at_ = 0;
  std::size_t start_;    // of the copy
  std::size_t end_;      // of the copy; json_ is larger
  std::string closing_;  // of the open brackets
  std::string spare_;    // a number
  bool is_repaired_ = false;
};

}  // namespace

bool is_json_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t start = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > start;
  };
  if (at < text.size() && text[at] == '-') ++at;
  const std::size_t first = at;
  if (!digits() || (text[first] == '0' && at > first + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (!digits()) return false;
  }
  return at == text.size() && !text.empty();
}

bool is_json_scalar(std::string_view text) {
  return is_json_number(text) || is_literal(text) || is_not_finite(text);
}

bool append_strict_json(std::string& json, std::string_view value, bool spaced, bool* is_repaired) {
  const std::size_t before = json.size();
  Copier copier(json, value, spaced, Copier::Numbers::as_written);
  const bool is_json = copier.run();
  json.resize(is_json ? copier.end() : before);
  if (!is_json) return false;
  if (is_repaired != nullptr && copier.is_repaired()) *is_repaired = true;
  return true;
}

bool append_canonical_json(std::string& json, std::string_view value) {
  const std::size_t before = json.size();
  Copier copier(json, value, true, Copier::Numbers::canonical);
  const bool is_json = copier.run();
  json.resize(is_json ? copier.end() : before);
  return is_json;
}

}  // namespace tbtrace::wire
