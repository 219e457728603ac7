#include <algorithm>

#include <tbtrace/device.h>

#include "base/decimal.h"

namespace tbtrace {

std::string device_type_key(DeviceType device) {
  std::string key(device_type_name(device));
  if (key.empty()) return "type" + std::to_string(static_cast<int>(device));
  std::transform(key.begin(), key.end(), key.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return key;
}

std::optional<std::int64_t> number_in_name(std::string_view name) {
  if (const auto whole = parse_integer(name)) return whole;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view before = name.substr(0, digits);
  // Not the last digits of an address.
  const bool ends_a_word = before.ends_with(' ') || before.ends_with(':') || before == "GPU";
  return ends_a_word ? parse_integer(name.substr(digits)) : std::nullopt;
}

}  // namespace tbtrace
