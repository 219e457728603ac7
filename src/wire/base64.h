// Base64 as in RFC 4648, section 4: with padding, without line breaks.
// Pure functions, any thread. Any bytes are accepted.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

void append_base64(std::string& text, std::string_view bytes);

}  // namespace tbtrace::wire
