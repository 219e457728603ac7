// The device types that torch knows.
// Plain values; safe from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// The numbers are those of c10::DeviceType (c10/core/DeviceType.h, LibTorch 2), which files
/// contain. A number that has no name here is kept: static_cast<DeviceType>(9) is XLA.
enum class DeviceType : std::int16_t {
  cpu = 0,
  cuda = 1,
  hip = 6,
  xpu = 12,
  mps = 13,
  hpu = 15,
  mtia = 19,
  privateuse1 = 20,
};

/// The name in torch.autograd.DeviceType: `CPU`, `CUDA`, `PrivateUse1`, ...; empty for others.
constexpr std::string_view device_type_name(DeviceType device) {
  switch (device) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::cuda:
      return "CUDA";
    case DeviceType::hip:
      return "HIP";
    case DeviceType::xpu:
      return "XPU";
    case DeviceType::mps:
      return "MPS";
    case DeviceType::hpu:
      return "HPU";
    case DeviceType::mtia:
      return "MTIA";
    case DeviceType::privateuse1:
      return "PrivateUse1";
  }
  return "";
}

/// The number that names of streams and devices end with: 7 for `7`, `stream 7`, `cuda:7` and
/// `GPU7`; nullopt if there is none.
std::optional<std::int64_t> number_in_name(std::string_view name);

/// The name in lower case; `type9` for a type that has no name here.
std::string device_type_key(DeviceType device);

}  // namespace tbtrace
