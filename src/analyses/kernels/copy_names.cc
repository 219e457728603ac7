#include "analyses/kernels/copy_names.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/characters.h"

namespace tbtrace::analyses {
namespace {

struct NamedDirection {
  std::string_view part;  ///< in lower case, without `_`, `-`, `>` and blanks
  CopyDirection direction;
};

/// The first one that a name contains. Sources: memcpyKindString() of Kineto, its XPU plugin (M2D:
/// from memory of the host), roctracer, rocprof, Nsight Systems, TensorFlow, JAX.
constexpr auto kDirections = std::to_array<NamedDirection>({
    {"htod", CopyDirection::to_device},
    {"h2d", CopyDirection::to_device},
    {"m2d", CopyDirection::to_device},
    {"hosttodevice", CopyDirection::to_device},
    {"htoa", CopyDirection::to_device},
    {"dtoh", CopyDirection::to_host},
    {"d2h", CopyDirection::to_host},
    {"d2m", CopyDirection::to_host},
    {"devicetohost", CopyDirection::to_host},
    {"atoh", CopyDirection::to_host},
    {"ptop", CopyDirection::between_devices},
    {"p2p", CopyDirection::between_devices},
    {"peertopeer", CopyDirection::between_devices},
    {"dtod", CopyDirection::on_device},
    {"d2d", CopyDirection::on_device},
    {"devicetodevice", CopyDirection::on_device},
});

std::string plain_copy_name(std::string_view name) {
  std::string text = lower_case(name);
  std::erase_if(text, [](char c) { return c == '_' || c == '-' || c == '>' || c == ' '; });
  return text;
}

}  // namespace

CopyDirection copy_direction(std::string_view name) {
  const std::string text = plain_copy_name(name);
  const auto* const found = std::ranges::find_if(kDirections, [&](const NamedDirection& named) {
    return text.find(named.part) != std::string::npos;
  });
  return found == kDirections.end() ? CopyDirection::unknown : found->direction;
}

HostMemory host_memory_of_copy(std::string_view name) {
  const std::string text = plain_copy_name(name);
  if (text.find("pageable") != std::string::npos) return HostMemory::pageable;
  return text.find("pinned") != std::string::npos ? HostMemory::pinned : HostMemory::unknown;
}

}  // namespace tbtrace::analyses
