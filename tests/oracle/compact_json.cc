#include "compact_json.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace tbtrace::oracle {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | code_point >> 6);
    put(0x80 | (code_point & 0x3f));
  } else if (code_point < 0x10000) {
    put(0xe0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  } else {
    put(0xf0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3f));
    put(0x80 | (code_point >> 6 & 0x3f));
    put(0x80 | (code_point & 0x3f));
  }
}

class Compactor {
 public:
  Compactor(std::string_view text, Numbers numbers) : text_(text), numbers_(numbers) {}

  std::optional<std::string> run() {
    for (;;) {
      const Step begun = begin_value();
      if (begun == Step::broken) return std::nullopt;
      if (begun == Step::inside) continue;
      const Step ended = end_value();
      if (ended == Step::broken) return std::nullopt;
      if (ended == Step::finished) return std::move(json_);
    }
  }

 private:
  enum class Step {
    broken,
    inside,    // a value starts next
    finished,  // a value, or the whole text, has ended
  };

  void skip_blanks() {
    constexpr std::string_view kBlanks = " \t\n\r";
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Reads a scalar, an empty container, or the opening of a container up to its first value.
  Step begin_value() {
    skip_blanks();
    if (take('{')) {
      json_.push_back('{');
      skip_blanks();
      if (take('}')) return closed('}');
      open_.push_back('}');
      return key() ? Step::inside : Step::broken;
    }
    if (take('[')) {
      json_.push_back('[');
      skip_blanks();
      if (take(']')) return closed(']');
      open_.push_back(']');
      return Step::inside;
    }
    if (at_ < text_.size() && text_[at_] == '"') return string() ? Step::finished : Step::broken;
    return literal() || number() ? Step::finished : Step::broken;
  }

  /// Reads what follows a value: brackets that close, then a comma or the end of the text.
  Step end_value() {
    for (;;) {
      skip_blanks();
      if (open_.empty()) return at_ == text_.size() ? Step::finished : Step::broken;
      if (take(',')) {
        json_.push_back(',');
        if (open_.back() == ']') return Step::inside;
        skip_blanks();
        return key() ? Step::inside : Step::broken;
      }
      if (!take(open_.back())) return Step::broken;
      json_.push_back(open_.back());
      open_.pop_back();
    }
  }

  Step closed(char bracket) {
    json_.push_back(bracket);
    return Step::finished;
  }

  bool key() {
    if (!string()) return false;
    skip_blanks();
    if (!take(':')) return false;
    json_.push_back(':');
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    std::string content;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        append_quoted(json_, content);
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        content.push_back(c);
      } else if (!escape(content)) {
        return false;
      }
    }
    return false;
  }

  bool escape(std::string& content) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return false;
    const char letter = text_[at_++];
    if (const std::size_t which = kLetters.find(letter); which != std::string_view::npos) {
      content.push_back(kMeanings[which]);
      return true;
    }
    const auto unit = letter == 'u' ? hex_digits(at_) : std::nullopt;
    if (!unit) return false;
    at_ += 4;
    std::uint32_t code_point = *unit;
    if (code_point >= 0xd800 && code_point < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      const auto low = hex_digits(at_ + 2);
      if (low && *low >= 0xdc00 && *low < 0xe000) {
        code_point = 0x10000 + ((code_point - 0xd800) << 10) + (*low - 0xdc00);
        at_ += 6;
      }
    }
    const bool lone = code_point >= 0xd800 && code_point < 0xe000;
    append_utf8(content, lone ? 0xfffd : code_point);
    return true;
  }

  std::optional<std::uint32_t> hex_digits(std::size_t at) const {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (text_.size() < at + 4) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t next = at; next < at + 4; ++next) {
      const char c = text_[next];
      const std::size_t digit =
          kDigits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c + 0x20) : c);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value << 4 | static_cast<std::uint32_t>(digit);
    }
    return value;
  }

  bool literal() {
    constexpr std::array<std::string_view, 6> kLiterals = {"true", "false",    "null",
                                                           "NaN",  "Infinity", "-Infinity"};
    for (const std::string_view word : kLiterals) {
      if (!text_.substr(at_).starts_with(word)) continue;
      json_ += word;
      at_ += word.size();
      return true;
    }
    return false;
  }

  bool some_digits() {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > first;
  }

  bool number() {
    const std::size_t first = at_;
    take('-');
    if (!take('0') && !some_digits()) return false;
    if (take('.') && !some_digits()) return false;
    if (take('e') || take('E')) {
      if (!take('-')) take('+');
      if (!some_digits()) return false;
    }
    const std::string_view written = text_.substr(first, at_ - first);
    json_ += numbers_ == Numbers::as_written ? std::string(written) : number_in_one_form(written);
    return true;
  }

  std::string_view text_;
  Numbers numbers_;
  std::size_t at_ = 0;
  std::string open_;  // the brackets that are still to come, the innermost last
  std::string json_;
};

}  // namespace

std::string number_in_one_form(std::string_view number) {
  constexpr long kMost = 40;
  const bool is_negative = number.starts_with('-');
  if (is_negative) number.remove_prefix(1);
  const std::size_t power_at = number.find_first_of("eE");
  std::string digits(number.substr(0, power_at));
  const std::size_t dot = digits.find('.');
  long decimals = 0;
  if (dot != std::string::npos) {
    decimals = static_cast<long>(digits.size() - dot - 1);
    digits.erase(dot, 1);
  }
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return "0";
  long power = 0;
  if (power_at != std::string_view::npos) {
    const std::string written(number.substr(power_at + 1));
    if (written.find_first_not_of("+-0") != std::string::npos &&
        written.size() - written.find_first_not_of("+-0") > 9) {
      return (is_negative ? "-" : "") + std::string(number);
    }
    power = std::strtol(written.c_str(), nullptr, 10);
  }
  // The value is 0.DIGITS times ten to the power of `point`.
  const long point = static_cast<long>(digits.size()) - decimals + power;
  while (digits.back() == '0') digits.pop_back();
  const long count = static_cast<long>(digits.size());
  std::string text = is_negative ? "-" : "";
  if (point > kMost || count - point > kMost) {
    text += digits.substr(0, 1) + (count > 1 ? "." : "") + digits.substr(1) + "e";
    return text + std::to_string(point - 1);
  }
  if (point <= 0) return text + "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  if (count <= point)
    return text + digits + std::string(static_cast<std::size_t>(point - count), '0');
  digits.insert(static_cast<std::size_t>(point), ".");
  return text + digits;
}

std::optional<std::string> compact_json(std::string_view text, Numbers numbers) {
  return Compactor(text, numbers).run();
}

void append_quoted(std::string& json, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kShort = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  json.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json.push_back('\\');
      json.push_back(c);
    } else if (const std::size_t which = kShort.find(c); which != std::string_view::npos) {
      json.push_back('\\');
      json.push_back(kLetters[which]);
    } else if (byte < 0x20) {
      json += "\\u00";
      json.push_back(kHex[byte >> 4]);
      json.push_back(kHex[byte & 15]);
    } else {
      json.push_back(c);
    }
  }
  json.push_back('"');
}

}  // namespace tbtrace::oracle
