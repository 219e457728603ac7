#include "readers/event_text.h"

#include <cstddef>

#include "base/utf8.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

/// A quote without a backslash, which no JSON string holds.
bool holds_bare_quote(std::string_view content) {
  bool escaped = false;
  for (const char c : content) {
    if (c == '"' && !escaped) return true;
    escaped = c == '\\' && !escaped;
  }
  return false;
}

}  // namespace

DecodedText decode(const Token& token, const TextRules& rules, std::string& scratch) {
  DecodedText decoded{token.text()};
  const std::string_view content = token.text();
  if (token.is_string() && rules.may_hold_escapes && content.find('\\') != std::string_view::npos) {
    scratch.clear();
    if (rules.quoting == wire::Quoting::escaped) {
      decoded.unescaped = !wire::append_unescaped(scratch, content);
    } else {
      // Kineto's writer knows one escape, that of the quote, and only since July 2026.
      for (std::size_t at = 0; at < content.size(); ++at) {
        if (content[at] == '\\' && at + 1 < content.size() && content[at + 1] == '"') ++at;
        scratch.push_back(content[at]);
      }
    }
    decoded.text = scratch;
  }
  if (rules.known_utf8) return decoded;
  if (token.is_string() && holds_bare_quote(content)) decoded.unescaped = true;
  if (!is_utf8(decoded.text)) {
    decoded.invalid_utf8 = true;
    scratch = to_utf8(decoded.text);
    decoded.text = scratch;
  }
  return decoded;
}

}  // namespace tbtrace::readers
