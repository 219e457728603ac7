// c10d's names for the ranges of collectives: a backend's prefix and the operation,
// `nccl:all_reduce`.
// Source: the profilingTitle of c10d::Work in torch/csrc/distributed/c10d/ProcessGroup*.cpp;
// `hccl:` is Ascend's backend, in torch_npu.
#pragma once

#include <array>
#include <string_view>

namespace tbtrace {

struct CollectiveBackend {
  std::string_view prefix;
  /// torch-tb-profiler compares whole names, and only has those of these backends in its list.
  bool known_to_plugin = false;
};

inline constexpr std::string_view kNcclPrefix = "nccl:";

inline constexpr std::array kCollectiveBackends = std::to_array<CollectiveBackend>({
    {kNcclPrefix, true},
    {"gloo:", true},
    {"mpi:"},
    {"ucc:"},
    {"xccl:"},
    {"hccl:"},
});

/// The backend at the start of a collective's name; nullptr if it is not a collective's name.
constexpr const CollectiveBackend* collective_backend(std::string_view name) {
  for (const CollectiveBackend& backend : kCollectiveBackends) {
    if (name.size() > backend.prefix.size() && name.starts_with(backend.prefix)) return &backend;
  }
  return nullptr;
}

constexpr bool is_collective_name(std::string_view name) {
  return collective_backend(name) != nullptr;
}

constexpr bool is_nccl_name(std::string_view name) { return name.starts_with(kNcclPrefix); }

}  // namespace tbtrace
