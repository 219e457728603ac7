#include "wire/xml.h"

#include <cstddef>

#include "base/utf8.h"

namespace tbtrace::wire {
namespace {

/// The replacement for a markup character; empty for all others. `>` is included because of `]]>`.
std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    case '\r':
      return "&#13;";
    default:
      return {};
  }
}

/// U+FFFE and U+FFFF: valid in UTF-8, but not in XML.
bool is_noncharacter(std::string_view character) {
  return character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf";
}

void append_escaped(std::string& xml, std::string_view text, bool attribute) {
  while (!text.empty()) {
    const char c = text[0];
    const std::size_t size = utf8_character_size(text);
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    if (const std::string_view known = entity(c); !known.empty()) {
      xml.append(known);
    } else if (c == '\t' || c == '\n') {
      if (attribute) {
        xml.append(c == '\t' ? "&#9;" : "&#10;");
      } else {
        xml.push_back(c);
      }
    } else if (size == 0 || is_control || is_noncharacter(text.substr(0, size))) {
      append_utf8(xml, 0xfffd);
    } else {
      xml.append(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
}

}  // namespace

void append_xml_text(std::string& xml, std::string_view text) { append_escaped(xml, text, false); }

void append_xml_attribute(std::string& xml, std::string_view text) {
  append_escaped(xml, text, true);
}

}  // namespace tbtrace::wire
