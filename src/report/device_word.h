// What people call the devices of a trace.
#pragma once

#include <optional>
#include <string_view>

#include <tbtrace/device.h>

namespace tbtrace::report {

/// Before their number: `GPU 0`, `MTIA 9`.
constexpr std::string_view device_word(std::optional<DeviceType> type) {
  switch (type.value_or(DeviceType::cuda)) {
    case DeviceType::mtia:
      return "MTIA";
    case DeviceType::hpu:
      return "HPU";
    case DeviceType::privateuse1:
      return "device";
    default:
      return "GPU";
  }
}

}  // namespace tbtrace::report
