#include "readers/chrome/event_text.h"

#include <cstddef>

#include "base/utf8.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

/// A quote without a backslash, or a control character: no JSON string holds them.
bool holds_bare_characters(std::string_view content) {
  bool escaped = false;
  for (const char c : content) {
    if ((c == '"' && !escaped) || static_cast<unsigned char>(c) < ' ') return true;
    escaped = c == '\\' && !escaped;
  }
  return false;
}

/// Kineto's writer knows one escape, that of the quote, and only since July 2026. Another backslash
/// is one: older writers left those of Windows' paths as they were.
bool append_of_kineto(std::string& text, std::string_view content) {
  bool only_quotes = true;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content[at] == '\\') {
      if (at + 1 < content.size() && content[at + 1] == '"') {
        ++at;
      } else {
        only_quotes = false;
      }
    }
    text.push_back(content[at]);
  }
  return only_quotes;
}

}  // namespace

DecodedText decode(const Token& token, const TextRules& rules, std::string& scratch) {
  DecodedText decoded{token.text()};
  const std::string_view content = token.text();
  if (token.is_string() && rules.may_hold_escapes && content.find('\\') != std::string_view::npos) {
    scratch.clear();
    if (rules.quoting == wire::Quoting::escaped) {
      const wire::Escapes escapes = wire::append_unescaped(scratch, content);
      decoded.unescaped = escapes == wire::Escapes::unknown;
      decoded.invalid_utf8 = escapes == wire::Escapes::unpaired;
    } else {
      decoded.unescaped = !append_of_kineto(scratch, content);
    }
    decoded.text = scratch;
  }
  if (token.type == Token::Type::scalar) {
    decoded.unescaped = !wire::is_json_scalar(content);
  }
  if (rules.is_clean) return decoded;
  if (token.is_string() && holds_bare_characters(content)) decoded.unescaped = true;
  if (!is_utf8(decoded.text)) {
    decoded.invalid_utf8 = true;
    scratch = to_utf8(decoded.text);
    decoded.text = scratch;
  }
  return decoded;
}

}  // namespace tbtrace::readers
