// Takes one event of a Chrome trace apart into the texts of the fields that matter.
// Views point into the block of text. Learns the order of keys; one thread at a time.
// Knows bytes and grammar, not what a field means: that is rows.h.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tbtrace/arguments.h>

#include "readers/chrome/key_order.h"
#include "readers/chrome/keys.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// The value of one field: its text without the quotes of a string, and what it is.
struct Token {
  enum class Type : std::uint32_t { scalar, string, nested };

  const char* data = nullptr;
  std::uint32_t size = 0;
  Type type = Type::scalar;

  std::string_view text() const { return {data, size}; }
  bool is_string() const { return type == Type::string; }
};

/// A member of an event or of its `args`.
struct RawMember {
  std::string_view key;  ///< as it stands between its quotes
  Token value;
  EventField field = EventField::none;
  Argument argument = Argument::none;
};

/// Of a key that is named twice the last value counts, as in json.loads(); of `args`, the last
/// object as a whole. Of two spellings of an argument the newer one counts, unless it is null.
struct RawEvent {
  // Only what has() names is set.
  std::array<Token, kEventFieldCount> fields;
  std::array<Token, kArgumentCount> arguments;
  std::uint32_t field_bits = 0;
  std::uint64_t argument_bits = 0;
  std::uint64_t older_bits = 0;  ///< of arguments whose value has the older spelling
  bool repeats_a_key = false;
  // In the order of the file, and only if the tokenizer was asked for them. If `args` are an
  // object, its members are in their own list, and its own value is empty.
  std::vector<RawMember> members;
  std::vector<RawMember> argument_members;

  bool has(EventField field) const { return (field_bits >> static_cast<int>(field) & 1) != 0; }
  bool has(Argument argument) const {
    return (argument_bits >> static_cast<int>(argument) & 1) != 0;
  }
  const Token& operator[](EventField field) const {
    return fields[static_cast<std::size_t>(field)];
  }
  const Token& operator[](Argument argument) const { return arguments[index(argument)]; }

  /// What an earlier `args` said does not count.
  void forget_arguments() {
    argument_bits = 0;
    older_bits = 0;
    argument_members.clear();
  }
};

enum class TokenEnd : std::uint8_t {
  complete,
  incomplete,  ///< the text ends inside the event
  broken,      ///< the positions make no event
  suspicious,  ///< proper JSON, but its `name` does not end where this writer's names end
};

/// Who found the positions.
enum class PositionsOf : std::uint8_t {
  index,    ///< JsonIndex, which knows JSON only
  scanner,  ///< JsonScanner, by the rules of the writer
};

class ChromeTokenizer {
 public:
  /// `wanted`: the arguments to find; an event whose wanted arguments have no sound value is
  /// broken. `all_members`: finds all, and fills the lists of members, except top-level ones of
  /// `unlisted_fields` (LeftOutMembers::bit()). Which events are broken is the same with and
  /// without.
  explicit ChromeTokenizer(ArgumentSet wanted, bool all_members = false,
                           std::uint32_t unlisted_fields = 0);
  ChromeTokenizer(const ChromeTokenizer&) = delete;
  ChromeTokenizer& operator=(const ChromeTokenizer&) = delete;
  ~ChromeTokenizer();

  /// Reads the event whose `{` is at `*position`, and moves `position` to the one after its `}`.
  /// `text` must be what the positions were made from and be followed by wire::kJsonPadding
  /// readable bytes.
  TokenEnd read(std::string_view text, wire::Quoting quoting, const std::uint32_t*& position,
                RawEvent& event, PositionsOf positions = PositionsOf::index);

 private:
  struct FieldKey;
  struct ArgumentKey;
  struct Orders;

  template <typename Key, bool kAllMembers>
  TokenEnd object(std::string_view text, wire::Quoting names, const std::uint32_t*& position,
                  RawEvent& event);
  template <typename Key>
  typename KeyOrder<Key>::Opening* learn_key(std::string_view text, const std::uint32_t* at);
  template <typename Key>
  KeyOrder<Key>& order();

  FieldKey meaning(std::string_view key, FieldKey) const;
  ArgumentKey meaning(std::string_view key, ArgumentKey) const;

  ArgumentSet wanted_;
  bool all_members_;
  std::uint32_t unlisted_fields_;
  wire::Quoting quoting_ = wire::Quoting::escaped;  // of the current event
  std::unique_ptr<Orders> orders_;
};

}  // namespace tbtrace::readers
