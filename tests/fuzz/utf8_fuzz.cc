// base/utf8.h against the table of RFC 3629.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"
#include "fixtures/utf8_table.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbtrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool valid = fixtures::is_utf8_by_table(text);
  fuzz::require(is_utf8(text) == valid, "is_utf8() follows the table");
  const std::string clean = to_utf8(text);
  fuzz::require(is_utf8(clean), "to_utf8() gives UTF-8");
  fuzz::require((clean == text) == valid, "to_utf8() changes what is no UTF-8, and nothing else");
  fuzz::require(to_utf8(clean) == clean, "to_utf8() has nothing to do twice");
  fuzz::require(utf8_length(clean) == utf8_length(text), "to_utf8() keeps the length");
  const std::size_t length = utf8_length(text);
  for (const std::size_t count : {std::size_t{0}, length / 2, length, length + 1}) {
    const std::string_view prefix = utf8_prefix(text, count);
    fuzz::require(text.starts_with(prefix), "a prefix starts the text");
    fuzz::require(utf8_length(prefix) == std::min(count, length), "a prefix has its length");
  }
  return 0;
}
