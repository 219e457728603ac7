// c10d's names for the ranges of collectives: a backend's prefix and the operation,
// `nccl:all_reduce`.
// Source: the profilingTitle of c10d::Work in torch/csrc/distributed/c10d/ProcessGroup*.cpp;
// `hccl:` is Ascend's backend, in torch_npu.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tbtrace::analyses {

struct CollectiveBackend {
  std::string_view prefix;
  /// torch-tb-profiler compares whole names, and only has those of these backends in its list.
  bool known_to_plugin = false;
};

inline constexpr std::string_view kNcclPrefix = "nccl:";

/// Operators of PyTorch's symmetric memory: `symm_mem::multimem_all_reduce_`. Not all are
/// collectives.
inline constexpr std::string_view kSymmetricMemory = "symm_mem::";

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

/// `all_reduce` for `nccl:all_reduce`; empty unless it is the name of a collective of a backend
/// that torch-tb-profiler knows.
constexpr std::string_view plugin_operation(std::string_view name) {
  const CollectiveBackend* backend = collective_backend(name);
  if (backend == nullptr || !backend->known_to_plugin) return {};
  return name.substr(backend->prefix.size());
}

/// One of the five nccl and gloo collectives that torch-tb-profiler knows.
constexpr bool is_plugin_collective(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOperations = {"broadcast", "reduce", "all_reduce",
                                                           "all_gather", "reduce_scatter"};
  const std::string_view operation = plugin_operation(name);
  return std::find(kOperations.begin(), kOperations.end(), operation) != kOperations.end();
}

constexpr bool is_nccl_name(std::string_view name) { return name.starts_with(kNcclPrefix); }

}  // namespace tbtrace::analyses
