// The device types that torch knows.
// Plain values; safe from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

enum class DeviceType : std::uint8_t { cpu, cuda, xpu, mtia, hpu, privateuse1 };

/// The name in torch.autograd.DeviceType: `CPU`, `CUDA`, `PrivateUse1`, ...
constexpr std::string_view device_type_name(DeviceType device) {
  switch (device) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::cuda:
      return "CUDA";
    case DeviceType::xpu:
      return "XPU";
    case DeviceType::mtia:
      return "MTIA";
    case DeviceType::hpu:
      return "HPU";
    case DeviceType::privateuse1:
      return "PrivateUse1";
  }
  return "";
}

}  // namespace tbtrace
