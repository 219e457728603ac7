// The meaning of the texts in events, by the rules of the program that wrote them.
// Pure functions; what decode() returns points into the token or into `scratch`.
// Text that breaks the rules is read as well as it can be, and says so.
#pragma once

#include <string>
#include <string_view>

#include "readers/chrome_tokenizer.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

/// How the strings of a piece of text are written.
struct TextRules {
  wire::Quoting quoting = wire::Quoting::escaped;
  bool may_hold_escapes = true;
  bool known_utf8 = false;
};

struct DecodedText {
  std::string_view text;  ///< UTF-8
  bool unescaped = false;
  bool invalid_utf8 = false;
};

DecodedText decode(const Token& token, const TextRules& rules, std::string& scratch);

/// The text stands in the file as JSON has it, without an escape.
inline bool is_plain(const Token& token, const TextRules& rules) {
  return rules.known_utf8 &&
         (!rules.may_hold_escapes || token.text().find('\\') == std::string_view::npos);
}

}  // namespace tbtrace::readers
