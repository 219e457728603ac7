// base/decimal.h against arithmetic on digits.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/decimal.h"
#include "fixtures/exact_decimal.h"
#include "fuzz/padded_text.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tbtrace;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kMostDigits = 900;  // beyond, zeros behind the point are refused
  if (text.size() > kMostDigits) return 0;
  const fuzz::PaddedText padded(text, 8);
  const auto integer = fixtures::exact_integer(text);
  fuzz::require(parse_integer(text) == integer, "integers are exact");
  std::int64_t number = 0;
  const bool is_integer = parse_padded_integer(padded.view(), number);
  fuzz::require(
      (is_integer ? std::optional(number) : std::nullopt) == fixtures::exact_json_integer(text),
      "padded integers are exact");
  const auto time = fixtures::exact_nanoseconds(text);
  fuzz::require(parse_microseconds(text) == time, "times are exact");
  const bool is_time = parse_padded_microseconds(padded.view(), number);
  fuzz::require((is_time ? std::optional(number) : std::nullopt) == time, "padded times are exact");
  return 0;
}
