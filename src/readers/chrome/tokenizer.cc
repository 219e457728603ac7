#include "readers/chrome/tokenizer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "wire/json_blanks.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;

/// What a value is, by its first character.
enum class Start : std::uint8_t {
  scalar,
  quote,
  bracket,
  none,  ///< the value is missing
};

constexpr std::array<Start, 256> kStarts = [] {
  std::array<Start, 256> starts = {};
  starts['"'] = Start::quote;
  starts['{'] = starts['['] = Start::bracket;
  starts['}'] = starts[']'] = starts[','] = starts[':'] = Start::none;
  return starts;
}();

// Brackets come in pairs whose codes differ by 2, and the two kinds differ by one bit.
constexpr int kKindOfBracket = 5;
bool opens(char c) { return (c | 1 << kKindOfBracket) == '{'; }
bool closes(char c) { return (c | 1 << kKindOfBracket) == '}'; }
/// 1 for a brace, 0 for a square bracket.
std::uint64_t brace_bit(char c) { return static_cast<unsigned char>(c) >> kKindOfBracket & 1U; }

/// The top bit of each byte of a word that differs from `blank`.
std::uint64_t other_than(char blank, std::uint64_t word) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  constexpr std::uint64_t kLow = 0x7f * kEach;
  const std::uint64_t difference = word ^ (kEach * static_cast<unsigned char>(blank));
  return (((difference & kLow) + kLow) | difference) & ~kLow;
}

[[gnu::noinline]] std::size_t without_blanks(const char* text, std::size_t end) {
  if (end >= 8) {
    std::uint64_t word;
    std::memcpy(&word, text + end - 8, sizeof word);
    const std::uint64_t solid = other_than(' ', word) & other_than('\n', word) &
                                other_than('\t', word) & other_than('\r', word);
    if (solid != 0) return end - static_cast<std::size_t>(std::countl_zero(solid) / 8);
  }
  while (end > 0 && wire::is_json_blank(text[end - 1])) --end;
  return end;
}

/// Where the blanks before `end` start; mostly there are none.
inline std::size_t trimmed(const char* text, std::size_t end) {
  return end > 0 && !wire::is_json_blank(text[end - 1]) ? end : without_blanks(text, end);
}

/// The text between `quote` and `end` is a string with both its quotes.
bool closes_string(const char* text, std::size_t quote, std::size_t end) {
  return end >= quote + 2 && text[end - 1] == '"';
}

/// `position` is behind an opening bracket, `first`: moves it behind the bracket that closes this.
TokenEnd skip_nested(std::string_view text, const std::uint32_t*& position, char first) {
  // Whether the open brackets are braces, as long as they are not too many to remember.
  constexpr std::size_t kMost = 64;
  std::uint64_t braces = brace_bit(first);
  bool are_known = true;
  for (std::size_t depth = 1; depth > 0;) {
    if (*position >= text.size()) return TokenEnd::incomplete;
    const char c = text[*position++];
    if (opens(c)) {
      if (depth++ == kMost) are_known = false;
      braces = braces << 1 | brace_bit(c);
    } else if (closes(c)) {
      const bool is_other = ((braces ^ brace_bit(c)) & 1) != 0;
      if (is_other && are_known) return TokenEnd::broken;
      --depth;
      braces >>= 1;
    }
  }
  return TokenEnd::complete;
}

bool starts_line(const char* text) { return *text == '\n' || (*text == '\r' && text[1] == '\n'); }

/// Kineto's C++ writer escapes nothing, so a name may hold what looks like further members. In its
/// layout a name is followed by the end of the line, or by `"pid"` in ranges and instants. `end`:
/// what follows the name.
bool ends_like_a_name(const char* text, Quoting quoting, std::size_t end, const RawEvent& event) {
  if (quoting == Quoting::escaped) return true;
  if (text[end] != ',') return end > 0 && wire::is_json_blank(text[end - 1]);
  const char* after = text + end + 1;
  if (starts_line(after)) return true;
  if (quoting == Quoting::kineto_lines) return false;
  const Token& phase = event[EventField::phase];
  const bool range_or_instant =
      event.has(EventField::phase) && phase.size == 1 && (*phase.data == 'X' || *phase.data == 'i');
  return !range_or_instant || std::string_view(after, 7) == " \"pid\":";
}

}  // namespace

// What a key of an event, and of its `args`, means: where its value goes.

struct ChromeTokenizer::FieldKey {
  EventField field = EventField::none;
  std::uint32_t bit = 0;  // 0: nobody wants it
  bool is_listed = true;

  bool is_name() const { return field == EventField::name; }
  bool is_arguments() const { return field == EventField::arguments; }
  bool breaks() const { return bit != 0; }  // the event, if it has no sound value
  /// The event has a value for the key; false if it keeps another one.
  bool mark(RawEvent& event, const Token& /*value*/) const {
    if ((event.field_bits & bit) != 0) event.repeats_a_key = true;
    event.field_bits |= bit;
    return true;
  }
  Token& token(RawEvent& event) const { return event.fields[static_cast<std::size_t>(field)]; }
  static std::vector<RawMember>& members(RawEvent& event) { return event.members; }
  void say(RawMember& member) const { member.field = field; }
};

struct ChromeTokenizer::ArgumentKey {
  Argument argument = Argument::none;
  bool is_older = false;  // the spelling that counts only where the other one says nothing
  bool is_wanted = false;
  static constexpr bool is_listed = true;
  std::uint64_t bit = 0;

  static bool is_name() { return false; }
  static bool is_arguments() { return false; }
  bool breaks() const { return is_wanted; }
  bool mark(RawEvent& event, const Token& value) const {
    const bool is_usual = !is_older && (event.argument_bits & bit) == 0;
    if (!is_usual && !mark_other(event, value)) return false;
    event.argument_bits |= bit;
    return true;
  }
  bool mark_other(RawEvent& event, const Token& value) const {
    const bool was_older = (event.older_bits & bit) != 0;
    if ((event.argument_bits & bit) == 0) {
      // There is none yet.
    } else if (is_older == was_older) {
      event.repeats_a_key = true;
    } else if (is_older ? !is_null(event.arguments[index(argument)]) : is_null(value)) {
      return false;
    }
    event.older_bits = is_older ? event.older_bits | bit : event.older_bits & ~bit;
    return true;
  }
  static bool is_null(const Token& value) {
    return value.type == Token::Type::scalar && value.text() == "null";
  }
  Token& token(RawEvent& event) const { return event.arguments[index(argument)]; }
  static std::vector<RawMember>& members(RawEvent& event) { return event.argument_members; }
  void say(RawMember& member) const { member.argument = argument; }
};

struct ChromeTokenizer::Orders {
  KeyOrder<FieldKey> of_fields;
  KeyOrder<ArgumentKey> of_arguments;
};

ChromeTokenizer::ChromeTokenizer(ArgumentSet wanted, bool all_members,
                                 std::uint32_t unlisted_fields)
    : wanted_(wanted),
      all_members_(all_members),
      unlisted_fields_(unlisted_fields),
      orders_(std::make_unique<Orders>()) {}
ChromeTokenizer::~ChromeTokenizer() = default;

template <typename Key>
KeyOrder<Key>& ChromeTokenizer::order() {
  if constexpr (std::is_same_v<Key, FieldKey>) {
    return orders_->of_fields;
  } else {
    return orders_->of_arguments;
  }
}

ChromeTokenizer::FieldKey ChromeTokenizer::meaning(std::string_view key, FieldKey) const {
  const EventField field = event_field(key);
  if (field == EventField::none) return {};
  const std::uint32_t bit = LeftOutMembers::bit(field);
  return {field, bit, (unlisted_fields_ & bit) == 0};
}

ChromeTokenizer::ArgumentKey ChromeTokenizer::meaning(std::string_view key, ArgumentKey) const {
  const Argument argument = argument_of(key);
  if (argument == Argument::none) return {};
  const bool is_older = argument_row(argument).keys[0] != key;
  const bool is_wanted = wanted_.contains(argument);
  const bool is_found = is_wanted || all_members_;
  return {argument, is_older, is_wanted, is_found ? std::uint64_t{1} << index(argument) : 0};
}

/// What a key says that was not met before; nullptr if it is not a key.
template <typename Key>
auto ChromeTokenizer::learn_key(std::string_view text, const std::uint32_t* at) ->
    typename KeyOrder<Key>::Opening* {
  const char* const bytes = text.data();
  const std::size_t key_at = at[0];
  const std::size_t key_end = trimmed(bytes, at[1]);
  const bool is_key =
      bytes[key_at] == '"' && bytes[at[1]] == ':' && closes_string(bytes, key_at, key_end);
  if (!is_key) return nullptr;
  std::string_view name = text.substr(key_at + 1, key_end - key_at - 2);
  if (name.find('\\') != std::string_view::npos) {
    // What it means depends on the writer, which the opening does not say.
    if (quoting_ != Quoting::escaped) return order<Key>().once(meaning(name, Key{}));
    std::string unescaped;
    wire::append_unescaped(unescaped, name);
    return order<Key>().once(meaning(unescaped, Key{}));
  }
  return order<Key>().add(bytes + key_at, at[2] - key_at, meaning(name, Key{}));
}

/// The members of the object whose `{` was just passed: an event, or its `args`. `names`: whose
/// rule for the ends of names has to be checked.
template <typename Key, bool kAllMembers>
TokenEnd ChromeTokenizer::object(std::string_view text, Quoting names,
                                 const std::uint32_t*& position, RawEvent& event) {
  constexpr bool kOfEvent = std::is_same_v<Key, FieldKey>;
  const char* const bytes = text.data();
  const std::uint32_t* at = position;
  if (bytes[*at] == '}') {
    position = at + 1;
    return TokenEnd::complete;
  }
  auto* opening = order<Key>().start();
  for (;;) {
    // Here stand: the key's quote, the colon, the start of the value, and what follows it.
    const std::uint32_t* const member = at;
    const std::size_t value_at = at[2];
    if (value_at >= text.size()) return TokenEnd::incomplete;
    opening = order<Key>().find(bytes + at[0], value_at - at[0], opening);
    if (opening == nullptr) opening = learn_key<Key>(text, at);
    if (opening == nullptr) return TokenEnd::broken;
    const Key key = opening->meaning();
    const char first = bytes[value_at];
    at += 3;
    Token value = {bytes + value_at, 0, Token::Type::nested};
    bool is_given = key.bit != 0 || kAllMembers;
    if (kOfEvent && key.is_arguments()) event.forget_arguments();
    const Start start = kStarts[static_cast<unsigned char>(first)];
    if (start == Start::none) return TokenEnd::broken;
    if (start == Start::bracket) {
      if (kOfEvent && key.is_arguments() && first == '{') {
        key.mark(event, value);
        is_given = false;
        if constexpr (kOfEvent && kAllMembers) {
          RawMember& listed = event.members.emplace_back();
          listed.key = "args";
          listed.value.data = bytes;
          key.say(listed);
        }
        const TokenEnd end = object<ArgumentKey, kAllMembers>(text, names, at, event);
        if (end != TokenEnd::complete) return end;
        value.size = static_cast<std::uint32_t>(at[-1] + 1 - value_at);
        key.token(event) = value;
      } else {
        const TokenEnd end = skip_nested(text, at, first);
        if (end != TokenEnd::complete) return end;
        value.size = static_cast<std::uint32_t>(at[-1] + 1 - value_at);
      }
    } else if (is_given) {
      const std::size_t next = *at;
      const std::size_t end = trimmed(bytes, next);
      const bool is_string = start == Start::quote;
      if (is_string ? closes_string(bytes, value_at, end) : end > value_at) {
        const std::size_t quote = is_string ? 1 : 0;
        value = {bytes + value_at + quote, static_cast<std::uint32_t>(end - value_at - 2 * quote),
                 is_string ? Token::Type::string : Token::Type::scalar};
      } else {
        if (next >= text.size()) return TokenEnd::incomplete;
        if (key.breaks()) return TokenEnd::broken;
        value.type = Token::Type::scalar;  // and empty
      }
    }
    if (is_given) {
      if (key.bit != 0 && key.mark(event, value)) key.token(event) = value;
      if (kAllMembers && key.is_listed) {
        const std::size_t key_end = trimmed(bytes, member[1]);
        RawMember& listed = key.members(event).emplace_back();
        listed.key = text.substr(member[0] + 1, key_end - member[0] - 2);
        listed.value = value;
        key.say(listed);
      }
    }
    const std::size_t end = *at++;
    if (end >= text.size()) return TokenEnd::incomplete;
    if (kOfEvent && key.is_name() && !ends_like_a_name(bytes, names, end, event)) {
      return TokenEnd::suspicious;
    }
    if (bytes[end] == ',') continue;
    position = at;
    return bytes[end] == '}' ? TokenEnd::complete : TokenEnd::broken;
  }
}

TokenEnd ChromeTokenizer::read(std::string_view text, Quoting quoting,
                               const std::uint32_t*& position, RawEvent& event,
                               PositionsOf positions) {
  quoting_ = quoting;
  event.field_bits = 0;
  event.argument_bits = 0;
  event.older_bits = 0;
  event.repeats_a_key = false;
  event.members.clear();
  event.argument_members.clear();
  const std::uint32_t* at = position + 1;
  const Quoting names = positions == PositionsOf::scanner ? Quoting::escaped : quoting;
  const TokenEnd end = all_members_ ? object<FieldKey, true>(text, names, at, event)
                                    : object<FieldKey, false>(text, names, at, event);
  if (end == TokenEnd::complete) position = at;
  return end;
}

}  // namespace tbtrace::readers
