// Text for XML 1.0 documents: content of elements and values of attributes.
// Appends to a string of the caller's. Pure functions.
// Any bytes may come in: what XML forbids (control characters, U+FFFE, bytes that are not UTF-8)
// becomes U+FFFD, so that the document stays well-formed.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

/// Appends `text` as content of an element. A carriage return is kept by a reference, because
/// parsers turn a bare one into a newline.
void append_xml_text(std::string& xml, std::string_view text);

/// Appends `text` as the value of an attribute, without the quotes of either kind. Tabs and
/// newlines are kept by references, because parsers turn bare ones into spaces.
void append_xml_attribute(std::string& xml, std::string_view text);

}  // namespace tbtrace::wire
