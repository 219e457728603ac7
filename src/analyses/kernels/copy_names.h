// What a memcpy copies from where to where, by the names that profilers give it.
// Any bytes are accepted as a name. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tbtrace::analyses {

enum class CopyDirection : std::uint8_t {
  to_device,
  to_host,
  on_device,
  between_devices,
  unknown,
};
inline constexpr std::size_t kCopyDirections = 5;

/// Of `Memcpy HtoD (Pageable -> Device)`, `CopyHostToDevice`, `[CUDA memcpy Host-to-Device]`,
/// `MEMCPYDtoH`, `MemcpyD2H`, `Memcpy PtoP (Device -> Device)`, `Memcpy M2D`, ...
CopyDirection copy_direction(std::string_view name);

enum class HostMemory : std::uint8_t { pageable, pinned, unknown };

/// Of the host's side of the copy, as Kineto's names have it.
HostMemory host_memory_of_copy(std::string_view name);

}  // namespace tbtrace::analyses
