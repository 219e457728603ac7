// Text for XML 1.0 documents: content of elements and values of attributes.
// Appends to a string of the caller's. Accepts any bytes: what XML forbids (control characters,
// U+FFFE, bytes that are not UTF-8) becomes U+FFFD, so that the document stays well-formed.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

/// Appends `text` as the content of an element. A carriage return is written as a character
/// reference, because parsers turn a bare one into a newline.
void append_xml_text(std::string& xml, std::string_view text);

/// Appends `text` as the value of an attribute, escaping quotes of both kinds. Tabs and newlines
/// are written as character references, because parsers turn bare ones into spaces.
void append_xml_attribute(std::string& xml, std::string_view text);

}  // namespace tbtrace::wire
