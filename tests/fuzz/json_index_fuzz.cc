// wire/json_index.h against a byte-by-byte reference, and wire/json_scanner.h against both where
// the text is one valid value.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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

  const fuzz::PaddedText padded(text, wire::kJsonPadding);
  static wire::JsonIndex index;
  const std::optional<Positions> expected = fixtures::json_positions(text);
  fuzz::require(index.build(padded.view()) == expected.has_value(),
                "the index refuses what is bad");
  if (!expected) return 0;
  fuzz::require(up_to(index.positions(), size) == *expected, "the index finds every part");

  // A stack may go on behind what looks like its end.
  if (text.find("Call stack") != std::string::npos || !is_valid(text)) return 0;
  wire::JsonScanner scanner;
  std::size_t at = 0;
  const wire::ScanEnd end = scanner.scan_element(text, at, true);
  fuzz::require(end == wire::ScanEnd::complete, "the scanner reads valid JSON");
  fuzz::require(at == size, "the scanner reads all of it");
  fuzz::require(up_to(scanner.positions(), size) == *expected, "the scanner finds every part");
  return 0;
}
