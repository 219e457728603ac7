// The meaning of the texts in events, by the rules of the program that wrote them.
// Pure functions; what decode() returns points into the token or into `scratch`.
// Text that breaks the rules is read as well as it can be, and says so.
#pragma once

#include <string>
#include <string_view>

#include "readers/chrome/tokenizer.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// How the strings of a piece of text are written.
struct TextRules {
  wire::Quoting quoting = wire::Quoting::escaped;
  bool may_hold_escapes = true;
  /// The piece is valid JSON on the level of strings: no bare quote, no raw control character, and
  /// all of it is UTF-8.
  bool is_clean = false;
};

struct DecodedText {
  std::string_view text;   ///< UTF-8
  bool unescaped = false;  ///< neither a string as JSON has it, nor a number or literal
  bool invalid_utf8 = false;
};

DecodedText decode(const Token& token, const TextRules& rules, std::string& scratch);

/// The text stands in the file as JSON has it, without an escape.
inline bool is_plain(std::string_view text, const TextRules& rules) {
  return rules.is_clean && (!rules.may_hold_escapes || text.find('\\') == std::string_view::npos);
}

/// The meaning of a text that is compared with known ones or read as a number: decoded only where
/// it holds escapes.
inline std::string_view meaning(const Token& token, const TextRules& rules, std::string& scratch) {
  const bool is_escaped = rules.may_hold_escapes && token.is_string() &&
                          token.text().find('\\') != std::string_view::npos;
  return is_escaped ? decode(token, rules, scratch).text : token.text();
}

}  // namespace tbtrace::readers
