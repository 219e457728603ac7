// wire/json_index.h against a byte-by-byte reference, and wire/json_scanner.h against both where
// the text is one valid value.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include "fixtures/json_positions.h"
#include "fuzz/padded_text.h"
#include "fuzz/require.h"
#include "wire/json_index.h"
#include "wire/json_scanner.h"

namespace {

using namespace tbtrace;
using Positions = std::vector<std::uint32_t>;

Positions up_to(const std::uint32_t* positions, std::size_t size) {
  const std::uint32_t* end = positions;
  while (*end < size) ++end;
  for (std::size_t number = 0; number < wire::kJsonSentinels; ++number) {
    fuzz::require(end[number] == size, "sentinels follow the last position");
  }
  return {positions, end};
}

bool has_bare_backslash(std::string_view text) {
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') in_string = !in_string;
    if (text[at] != '\\') continue;
    if (!in_string) return true;
    ++at;
  }
  return false;
}

bool is_valid(std::string_view text) {
  static simdjson::dom::parser parser;
  return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  // On some machines the library takes these for a comma and a colon.
  std::replace(text.begin(), text.end(), '\f', ' ');
  std::replace(text.begin(), text.end(), '\x1a', ' ');

  const fixtures::JsonParts expected = fixtures::json_parts(text);
  // No JSON has a backslash outside of strings, and where an open string starts depends on it.
  if (expected.end == wire::IndexEnd::open_string && has_bare_backslash(text)) return 0;
  const fuzz::PaddedText padded(text, wire::kJsonPadding);
  static wire::JsonIndex index;
  fuzz::require(index.build(padded.view()) == expected.end, "the index knows how strings end");
  if (expected.end == wire::IndexEnd::broken) return 0;
  fuzz::require(index.is_utf8() == expected.is_utf8, "the index knows what is UTF-8");
  fuzz::require(up_to(index.positions(), size) == expected.positions, "the index finds every part");

  // A stack may go on behind what looks like its end.
  if (text.find("Call stack") != std::string::npos || !is_valid(text)) return 0;
  wire::JsonScanner scanner;
  std::size_t at = 0;
  const wire::ScanEnd end = scanner.scan_element(text, at, true);
  fuzz::require(end == wire::ScanEnd::complete, "the scanner reads valid JSON");
  fuzz::require(at == size, "the scanner reads all of it");
  fuzz::require(up_to(scanner.positions(), size) == expected.positions,
                "the scanner finds every part");
  return 0;
}
