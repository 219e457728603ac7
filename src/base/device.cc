#include <algorithm>

#include <tbtrace/device.h>

namespace tbtrace {

std::string device_type_key(DeviceType device) {
  std::string key(device_type_name(device));
  if (key.empty()) return "type" + std::to_string(static_cast<int>(device));
  std::transform(key.begin(), key.end(), key.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return key;
}

}  // namespace tbtrace
