#include "readers/chrome_tokenizer.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace tbtrace::readers {
namespace {

using wire::Quoting;

// Brackets come in pairs whose codes differ by 2, and the two kinds differ by one bit.
bool opens(char c) { return (c | 0x20) == '{'; }
bool closes(char c) { return (c | 0x20) == '}'; }

class Walk {
 public:
  Walk(std::string_view text, Quoting quoting, const std::uint32_t* position, RawEvent& event)
      : text_(text.data()),
        size_(static_cast<std::uint32_t>(text.size())),
        quoting_(quoting),
        position_(position),
        event_(event) {}

  const std::uint32_t* position() const { return position_; }
  bool repeated_key() const { return (repeated_ & ~(std::uint64_t{1} << kFieldCount)) != 0; }

  /// The members of the object whose `{` is at position_.
  template <bool kArguments>
  TokenEnd object() {
    ++position_;
    if (text_[*position_] == '}') {
      ++position_;
      return TokenEnd::complete;
    }
    for (;;) {
      // Here stand: the key's quote, the colon, the start of the value, and what follows it.
      const std::uint32_t key_at = position_[0];
      const std::uint32_t colon = position_[1];
      const std::uint32_t value_at = position_[2];
      if (value_at >= size_) return TokenEnd::incomplete;
      const std::uint32_t key_end = trimmed(colon);
      if (text_[key_at] != '"' || text_[colon] != ':' || !closes_string(key_at, key_end)) {
        return TokenEnd::broken;
      }
      const std::string_view key(text_ + key_at + 1, key_end - key_at - 2);
      const Field field = kArguments ? kArgumentFields.find(key) : kEventFields.find(key);
      const char first = text_[value_at];
      if (!opens(first)) {
        const std::uint32_t next = position_[3];
        const std::uint32_t end = trimmed(next);
        const bool string = first == '"';
        if (string ? !closes_string(value_at, end) : end <= value_at) {
          return next >= size_ ? TokenEnd::incomplete : TokenEnd::broken;
        }
        const std::uint32_t quote = string ? 1 : 0;
        store(field, {text_ + value_at + quote, end - value_at - 2 * quote,
                      string ? Token::Type::string : Token::Type::scalar});
        position_ += 3;
      } else if (!kArguments && field == Field::arguments && first == '{') {
        position_ += 2;
        if (const TokenEnd end = object<true>(); end != TokenEnd::complete) return end;
      } else {
        position_ += 2;
        if (!skip_nested()) return TokenEnd::incomplete;
        store(field, {text_ + value_at, position_[-1] + 1 - value_at, Token::Type::nested});
      }
      if (*position_ >= size_) return TokenEnd::incomplete;
      if (!kArguments && field == Field::name && !ends_like_a_name()) return TokenEnd::suspicious;
      const char next = text_[*position_++];
      if (next == '}') return TokenEnd::complete;
      if (next != ',') return TokenEnd::broken;
    }
  }

 private:
  // Fields without a row share a slot behind the others, so that nothing depends on which it is.
  void store(Field field, Token token) {
    const std::uint64_t bit = std::uint64_t{1} << static_cast<int>(field);
    repeated_ |= event_.present & bit;
    event_.present |= bit;
    event_.tokens[static_cast<std::size_t>(field)] = token;
  }

  bool skip_nested() {
    std::size_t depth = 0;
    do {
      if (*position_ >= size_) return false;
      const char c = text_[*position_++];
      depth += opens(c) ? 1 : 0;
      depth -= closes(c) ? 1 : 0;
    } while (depth > 0);
    return true;
  }

  /// The text between `quote` and `end` is a string with both its quotes.
  bool closes_string(std::uint32_t quote, std::uint32_t end) const {
    return end >= quote + 2 && text_[end - 1] == '"';
  }

  /// Where the blanks before `end` start.
  std::uint32_t trimmed(std::uint32_t end) const {
    if (end >= 8) {
      std::uint64_t word;
      std::memcpy(&word, text_ + end - 8, sizeof word);
      // The top bit of each byte that is above ' ', then the highest of them.
      constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
      const std::uint64_t solid = (((word & kLow) + 0x5f5f5f5f5f5f5f5f) | word) & ~kLow;
      if (solid != 0) return end - static_cast<std::uint32_t>(std::countl_zero(solid) / 8);
    }
    while (end > 0 && static_cast<unsigned char>(text_[end - 1]) <= ' ') --end;
    return end;
  }

  /// Kineto's C++ writer escapes nothing, so a name may hold what looks like further members. In
  /// its layout a name is followed by the end of the line, or by `"pid"` in ranges and instants.
  bool ends_like_a_name() const {
    if (quoting_ == Quoting::escaped || text_[*position_] != ',') return true;
    const char* after = text_ + *position_ + 1;
    if (*after == '\n') return true;
    if (quoting_ == Quoting::kineto_lines) return false;
    const bool range_or_instant =
        event_.has(Field::phase) && event_[Field::phase].size == 1 &&
        (*event_[Field::phase].data == 'X' || *event_[Field::phase].data == 'i');
    return !range_or_instant || std::string_view(after, 7) == " \"pid\":";
  }

  const char* text_;
  std::uint32_t size_;
  Quoting quoting_;
  const std::uint32_t* position_;
  RawEvent& event_;
  std::uint64_t repeated_ = 0;
};

}  // namespace

TokenEnd read_event(std::string_view text, Quoting quoting, const std::uint32_t*& position,
                    RawEvent& event) {
  event.present = 0;
  Walk walk(text, quoting, position, event);
  const TokenEnd end = walk.object<false>();
  if (end == TokenEnd::complete) position = walk.position();
  event.repeated_key = walk.repeated_key();
  return end;
}

}  // namespace tbtrace::readers
