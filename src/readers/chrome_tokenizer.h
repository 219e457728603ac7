// Takes one event of a Chrome trace apart into the texts of the fields that matter.
// Views point into the block of text. Learns the order of keys; one thread at a time.
// Knows bytes and grammar, not what a field means: that is chrome_events.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/chrome_fields.h"
#include "readers/key_order.h"
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
struct Member {
  std::string_view key;  ///< as it stands between its quotes
  Token value;
  Field field = Field::none;
};

struct RawEvent {
  /// Only fields that has() names are set.
  std::array<Token, kFieldCount> tokens;
  /// In the order of the file, and only if the tokenizer was asked for them. `args` are in their
  /// own list if they are an object.
  std::vector<Member> members;
  std::vector<Member> arguments;
  std::uint64_t present = 0;
  std::uint64_t repeated = 0;  // fields that were given more than once; the last one counts

  bool has(Field field) const { return (present >> static_cast<int>(field) & 1) != 0; }
  bool has_repeated_key() const { return repeated != 0; }
  const Token& operator[](Field field) const { return tokens[static_cast<std::size_t>(field)]; }
};

enum class TokenEnd : std::uint8_t {
  complete,
  incomplete,  ///< the text ends inside the event
  broken,      ///< the positions make no event
  suspicious,  ///< proper JSON, but its `name` does not end where this writer's names end
};

class ChromeTokenizer {
 public:
  /// `all_members`: the lists of members are filled too.
  explicit ChromeTokenizer(bool all_members = false) : all_members_(all_members) {}

  /// Reads the event whose `{` is at `*position`, and moves `position` behind its `}`. `text` must
  /// be what the positions were made from and be followed by wire::kJsonPadding readable bytes.
  TokenEnd read(std::string_view text, wire::Quoting quoting, const std::uint32_t*& position,
                RawEvent& event);

 private:
  template <bool kArguments, bool kAllMembers>
  TokenEnd object(std::string_view text, wire::Quoting quoting, const std::uint32_t*& position,
                  RawEvent& event);

  bool all_members_;
  KeyOrder event_keys_;
  KeyOrder argument_keys_;
};

}  // namespace tbtrace::readers
