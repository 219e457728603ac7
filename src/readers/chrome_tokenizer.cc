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

bool is_solid(char c) { return static_cast<unsigned char>(c) > ' '; }

/// Where the blanks before `end` start.
std::size_t trimmed(const char* text, std::size_t end) {
  if (end > 0 && is_solid(text[end - 1])) return end;
  if (end >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text + end - 8, sizeof word);
    // The top bit of each byte that is above ' ', then the highest of them.
    constexpr std::uint64_t kLow = 0x7f7f7f7f7f7f7f7f;
    const std::uint64_t solid = (((word & kLow) + 0x5f5f5f5f5f5f5f5f) | word) & ~kLow;
    if (solid != 0) return end - static_cast<std::size_t>(std::countl_zero(solid) / 8);
  }
  while (end > 0 && !is_solid(text[end - 1])) --end;
  return end;
}

/// The text between `quote` and `end` is a string with both its quotes.
bool closes_string(const char* text, std::size_t quote, std::size_t end) {
  return end >= quote + 2 && text[end - 1] == '"';
}

/// Moves behind the bracket that closes the one just passed.
bool skip_nested(std::string_view text, const std::uint32_t*& position) {
  for (std::size_t depth = 1; depth > 0;) {
    if (*position >= text.size()) return false;
    const char c = text[*position++];
    depth += opens(c) ? 1 : 0;
    depth -= closes(c) ? 1 : 0;
  }
  return true;
}

/// The fields of one object, as far as it was read.
struct Fields {
  std::uint64_t present = 0;
  std::uint64_t repeated = 0;
};

void store(RawEvent& event, Fields& fields, Field field, std::uint64_t bit, const char* data,
           std::size_t size, Token::Type type) {
  fields.repeated |= fields.present & bit;
  fields.present |= bit;
  event.tokens[static_cast<std::size_t>(field)] = {data, static_cast<std::uint32_t>(size), type};
}

/// Kineto's C++ writer escapes nothing, so a name may hold what looks like further members. In its
/// layout a name is followed by the end of the line, or by `"pid"` in ranges and instants.
bool ends_like_a_name(const char* text, Quoting quoting, std::size_t end, const RawEvent& event,
                      const Fields& fields) {
  if (quoting == Quoting::escaped) return true;
  if (text[end] != ',') return end > 0 && !is_solid(text[end - 1]);
  const char* after = text + end + 1;
  if (*after == '\n') return true;
  if (quoting == Quoting::kineto_lines) return false;
  const bool has_phase = (fields.present >> static_cast<int>(Field::phase) & 1) != 0;
  const Token& phase = event[Field::phase];
  const bool range_or_instant =
      has_phase && phase.size == 1 && (*phase.data == 'X' || *phase.data == 'i');
  return !range_or_instant || std::string_view(after, 7) == " \"pid\":";
}

}  // namespace

/// The members of the object whose `{` was just passed.
template <bool kArguments, bool kAllMembers>
TokenEnd ChromeTokenizer::object(std::string_view text, Quoting quoting,
                                 const std::uint32_t*& position, RawEvent& event) {
  KeyOrder& keys = kArguments ? argument_keys_ : event_keys_;
  const char* const bytes = text.data();
  const std::size_t size = text.size();
  const std::uint32_t* at = position;
  if (bytes[*at] == '}') {
    position = at + 1;
    return TokenEnd::complete;
  }
  Fields fields;
  KeyOrder::Opening* opening = keys.start();
  for (;;) {
    // Here stand: the key's quote, the colon, the start of the value, and what follows it.
    const std::size_t key_at = at[0];
    const std::size_t value_at = at[2];
    if (value_at >= size) return TokenEnd::incomplete;
    const char* const key = bytes + key_at;
    KeyOrder::Opening* const known = keys.find(key, value_at - key_at, opening);
    Field field;
    std::uint64_t bit;
    if (known != nullptr) {
      opening = known;
      field = opening->field();
      bit = opening->bit();
    } else {
      const std::size_t colon = at[1];
      const std::size_t key_end = trimmed(bytes, colon);
      if (*key != '"' || bytes[colon] != ':' || !closes_string(bytes, key_at, key_end)) {
        return TokenEnd::broken;
      }
      const std::string_view name(key + 1, key_end - key_at - 2);
      field = kArguments ? field_of(name, kArgumentKeys) : field_of(name, kEventKeys);
      bit = field_bit(field);
      opening = keys.add(key, value_at - key_at, field);
    }
    const char first = bytes[value_at];
    const std::size_t colon_at = at[1];
    at += 3;
    const auto add_member = [&](const char* data, std::size_t length, Token::Type type) {
      const std::size_t key_end = trimmed(bytes, colon_at);
      (kArguments ? event.arguments : event.members)
          .push_back({{key + 1, key_end - key_at - 2},
                      {data, static_cast<std::uint32_t>(length), type},
                      field});
    };
    if (opens(first)) {
      if (!kArguments && field == Field::arguments && first == '{') {
        const TokenEnd end = object<true, kAllMembers>(text, quoting, at, event);
        if (end != TokenEnd::complete) return end;
      } else {
        if (!skip_nested(text, at)) return TokenEnd::incomplete;
        const std::size_t value_size = at[-1] + 1 - value_at;
        if (kAllMembers) add_member(bytes + value_at, value_size, Token::Type::nested);
        if (field != Field::none) {
          store(event, fields, field, bit, bytes + value_at, value_size, Token::Type::nested);
        }
      }
    } else if (field != Field::none) {
      const std::size_t next = *at;
      const std::size_t end = trimmed(bytes, next);
      if (first == '"') {
        if (!closes_string(bytes, value_at, end)) {
          return next >= size ? TokenEnd::incomplete : TokenEnd::broken;
        }
        if (kAllMembers) add_member(bytes + value_at + 1, end - value_at - 2, Token::Type::string);
        store(event, fields, field, bit, bytes + value_at + 1, end - value_at - 2,
              Token::Type::string);
      } else {
        if (end <= value_at) return next >= size ? TokenEnd::incomplete : TokenEnd::broken;
        if (kAllMembers) add_member(bytes + value_at, end - value_at, Token::Type::scalar);
        store(event, fields, field, bit, bytes + value_at, end - value_at, Token::Type::scalar);
      }
    } else if (kAllMembers) {
      // Nobody knows the field, so it breaks nothing.
      const std::size_t end = trimmed(bytes, *at);
      if (first != '"') {
        if (end > value_at) add_member(bytes + value_at, end - value_at, Token::Type::scalar);
      } else if (closes_string(bytes, value_at, end)) {
        add_member(bytes + value_at + 1, end - value_at - 2, Token::Type::string);
      }
    }
    const std::size_t end = *at++;
    if (end >= size) return TokenEnd::incomplete;
    if (!kArguments && field == Field::name &&
        !ends_like_a_name(bytes, quoting, end, event, fields)) {
      return TokenEnd::suspicious;
    }
    if (bytes[end] == ',') continue;
    event.present |= fields.present;
    event.repeated |= fields.repeated;
    position = at;
    return bytes[end] == '}' ? TokenEnd::complete : TokenEnd::broken;
  }
}

TokenEnd ChromeTokenizer::read(std::string_view text, Quoting quoting,
                               const std::uint32_t*& position, RawEvent& event) {
  event.present = 0;
  event.repeated = 0;
  event.members.clear();
  event.arguments.clear();
  const std::uint32_t* at = position + 1;
  const TokenEnd end = all_members_ ? object<false, true>(text, quoting, at, event)
                                    : object<false, false>(text, quoting, at, event);
  if (end == TokenEnd::complete) position = at;
  return end;
}

}  // namespace tbtrace::readers
