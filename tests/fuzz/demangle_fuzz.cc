// symbols/names/demangle.h: no name comes out longer than the limit.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fuzz/require.h"
#include "symbols/names/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbtrace;
  const std::string name(reinterpret_cast<const char*>(data), size);
  for (const std::size_t limit : {std::size_t{100}, std::size_t{5000}, std::size_t{1} << 20}) {
    const std::optional<std::string> text = demangle(name, limit);
    fuzz::require(!text || text->size() <= limit, "the limit holds");
  }
  return 0;
}
