// What storages and blocks of memory are known by: their address together with their device.
// Plain values.
#pragma once

#include <cstdint>

namespace tbtrace::recorder {

/// Where memory is.
class MemoryDevice {
 public:
  static constexpr MemoryDevice cpu() { return MemoryDevice(0); }
  static constexpr MemoryDevice cuda(int index) {
    return MemoryDevice(index >= 0 && index < kOther - 1 ? index + 1 : kOther);
  }
  /// One of which nothing is recorded.
  static constexpr MemoryDevice other() { return MemoryDevice(kOther); }

  constexpr bool is_cuda() const { return code_ != 0 && code_ != kOther; }
  /// Of a CUDA device; -1 of the others, as torch has it.
  constexpr int index() const { return is_cuda() ? code_ - 1 : -1; }

  constexpr bool operator==(const MemoryDevice&) const = default;

 private:
  friend constexpr std::uint64_t storage_key(std::uint64_t address, MemoryDevice device);
  friend constexpr MemoryDevice device_of(std::uint64_t storage_key);

  static constexpr int kOther = 255;
  constexpr explicit MemoryDevice(int code) : code_(static_cast<std::uint8_t>(code)) {}

  std::uint8_t code_;
};

namespace storage_key_detail {
inline constexpr int kAddressBits = 56;  // more than processors or GPUs use
inline constexpr std::uint64_t kAddress = (std::uint64_t{1} << kAddressBits) - 1;
}  // namespace storage_key_detail

/// On the CPU, the address. No address has the key 0 on any device.
constexpr std::uint64_t storage_key(std::uint64_t address, MemoryDevice device) {
  using namespace storage_key_detail;
  if (address == 0) return 0;
  return std::uint64_t{device.code_} << kAddressBits | (address & kAddress);
}
constexpr MemoryDevice device_of(std::uint64_t storage_key) {
  return MemoryDevice(static_cast<int>(storage_key >> storage_key_detail::kAddressBits));
}
constexpr std::uint64_t address_of(std::uint64_t storage_key) {
  return storage_key & storage_key_detail::kAddress;
}

}  // namespace tbtrace::recorder
