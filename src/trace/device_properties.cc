// The devices that a file lists in `deviceProperties`.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "wire/json_objects.h"
#include "wire/json_strict.h"
#include "wire/json_values.h"

namespace tbtrace {

std::vector<DeviceProperties> Trace::device_properties() const {
  constexpr std::size_t kMostDevices = 1024;
  const auto listed = metadata().find("deviceProperties");
  std::string json;
  if (listed == metadata().end() || !wire::append_strict_json(json, listed->second, false)) {
    return {};
  }
  std::vector<DeviceProperties> devices;
  for (const wire::JsonObject& object : wire::json_objects(json, "name")) {
    if (devices.size() == kMostDevices) break;
    DeviceProperties device;
    device.id =
        wire::json_integer(object.text, "id").value_or(static_cast<std::int64_t>(devices.size()));
    device.name = wire::json_text(object.member).value_or("");
    device.memory_bytes = wire::json_integer(object.text, "totalGlobalMem");
    device.compute_major = wire::json_integer(object.text, "computeMajor");
    device.compute_minor = wire::json_integer(object.text, "computeMinor");
    device.multiprocessors = wire::json_integer(object.text, "numSms");
    device.max_threads_per_block = wire::json_integer(object.text, "maxThreadsPerBlock");
    device.max_threads_per_multiprocessor =
        wire::json_integer(object.text, "maxThreadsPerMultiprocessor");
    device.registers_per_block = wire::json_integer(object.text, "regsPerBlock");
    device.registers_per_multiprocessor = wire::json_integer(object.text, "regsPerMultiprocessor");
    device.warp_size = wire::json_integer(object.text, "warpSize");
    device.shared_bytes_per_block = wire::json_integer(object.text, "sharedMemPerBlock");
    device.shared_bytes_per_block_optin = wire::json_integer(object.text, "sharedMemPerBlockOptin");
    device.shared_bytes_per_multiprocessor =
        wire::json_integer(object.text, "sharedMemPerMultiprocessor");
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace tbtrace
