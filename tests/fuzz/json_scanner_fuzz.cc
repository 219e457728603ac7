// wire/json_scanner.h in every mode: it ends, its positions make sense, and what it called complete
// stays so when more text comes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "wire/json_index.h"
#include "wire/json_scanner.h"

namespace {

using namespace tbtrace;
using wire::JsonScanner;
using wire::Quoting;
using wire::ScanEnd;

struct Scan {
  ScanEnd end;
  std::size_t after;
};

Scan scan(JsonScanner& scanner, std::string_view text, bool member, bool last) {
  std::size_t at = 0;
  const ScanEnd end =
      member ? scanner.scan_member(text, at, last) : scanner.scan_element(text, at, last);
  const std::uint32_t* position = scanner.positions();
  std::size_t before = 0;
  for (bool first = true; *position < text.size(); ++position, first = false) {
    fuzz::require(first || *position > before, "positions ascend");
    before = *position;
  }
  for (std::size_t number = 0; number < wire::kJsonSentinels; ++number) {
    fuzz::require(position[number] == text.size(), "sentinels follow the last position");
  }
  if (end == ScanEnd::complete) {
    fuzz::require(at > before && at <= text.size(), "a complete scan ends behind its parts");
  } else {
    fuzz::require(at == 0, "other scans do not move");
  }
  return {end, at};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string_view start = text.substr(0, std::min<std::size_t>(text.size(), data[0]));
  const bool has_stack = text.find("Call stack") != std::string_view::npos;
  for (const Quoting quoting : {Quoting::escaped, Quoting::kineto_lines, Quoting::kineto_inline}) {
    JsonScanner scanner(quoting);
    for (const bool member : {false, true}) {
      scan(scanner, text, member, true);
      const Scan whole = scan(scanner, text, member, false);
      const Scan early = scan(scanner, start, member, false);
      // Where a stack ends depends on the rest of its line.
      if (early.end != ScanEnd::complete || has_stack) continue;
      fuzz::require(whole.end == ScanEnd::complete, "what is complete stays complete");
      fuzz::require(early.after <= whole.after, "more text takes nothing back");
    }
  }
  return 0;
}
