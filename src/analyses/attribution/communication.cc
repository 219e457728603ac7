#include "analyses/attribution/communication.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "analyses/attribution/collective_names.h"
#include "base/characters.h"
#include "base/id_map.h"
#include "symbols/names/demangle.h"
#include "symbols/names/function_name.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kLongestReadable = std::size_t{1} << 16;  // bytes

/// Parts of names in lower case, without parameters. Sources: the kernels of NCCL and RCCL
/// (`ncclDevKernel_`, `ncclSymkDevKernel_`), MSCCL and MSCCL++, NVSHMEM, oneCCL; the custom
/// all-reduce of vLLM, SGLang and AITER (`cross_device_reduce`, `quickreduce`), TensorRT-LLM's and
/// FlashInfer's fused ones (`allreduce_fusion_kernel_oneshot_lamport`); PyTorch's symmetric memory
/// (torch/csrc/distributed/c10d/cuda); TransformerEngine's userbuffers; what sends tokens to
/// experts and back: DeepEP, also in vendors' namespaces (`dpsk::ep::internode::combine`) and its
/// HybridEP, UCCL's EP, pplx, MoRI (`EpDispatchIntraNodeKernel_bf16`), TensorRT-LLM
/// (`moeA2ACombineKernel`); Ascend's HCCL (`hcom_broadcast__293_0_1`); XLA's operations
/// (`all-reduce-start.3`).
constexpr auto kParts = std::to_array<std::string_view>({
    "nccl",
    "rccl",
    "msccl",
    "nvshmem",
    "oneccl",
    "hccl",
    "hcom_",
    "allreduce",
    "all_reduce",
    "allgather",
    "all_gather",
    "reducescatter",
    "reduce_scatter",
    "alltoall",
    "all_to_all",
    "all2all",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "cross_device_reduce",
    "quickreduce",
    "multimem_",
    "lamport",
    "userbuffers",
    "put_signal_kernel",
    "wait_signal_kernel",
    "deep_ep::",
    "internode::",
    "intranode::",
    "internode_ll::",
    "hybrid_ep::",
    "uccl",
    "pplx::",
    "a2a_dispatch",
    "a2a_combine",
    "epdispatch",
    "epcombine",
    "moea2adispatch",
    "moea2acombine",
});

/// Parts of names that one of kParts is in, but that compute: torch.compile names its kernels after
/// all operators that it looked at, and what DeepEP does around its transfers counts and moves
/// tokens on one device.
constexpr auto kComputing = std::to_array<std::string_view>({
    "triton_poi_",
    "triton_red_",
    "triton_per_",
    "triton_tem_",
    "triton_for_",
    "triton_spl_",
    "triton_unk_",
    "get_dispatch_layout",
    "hybrid_ep::scan",
    "hybrid_ep::permute",
    "hybrid_ep::unpermute",
});

template <typename Parts>
bool has_any(std::string_view text, const Parts& parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// The ids of annotations of collectives on devices.
IdMap annotated_ids(const Trace& trace) {
  IdMap ids;
  if (!trace.links().external_ids_valid) return ids;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::gpu_user_annotation) continue;
    const std::int64_t id = trace.external_id(event);
    if (id != 0 && is_collective_name(trace.name(event))) ids.insert(id, 0);
  }
  return ids;
}

/// The answer of a test of names, asked once for each.
class NameTest {
 public:
  NameTest(const Trace& trace, bool (*test)(std::string_view name)) : trace_(trace), test_(test) {}

  bool passes(EventId event) {
    const std::size_t name = index(trace_.events().name(event));
    if (name >= answers_.size()) answers_.resize(name + 1, kUnknown);
    if (answers_[name] == kUnknown) answers_[name] = test_(trace_.name(event)) ? 1 : 0;
    return answers_[name] == 1;
  }

 private:
  static constexpr char kUnknown = 2;

  const Trace& trace_;
  bool (*test_)(std::string_view name);
  std::vector<char> answers_;  // by StringId
};

bool is_matrix_product(std::string_view name) {
  return name.find("matmul") != std::string_view::npos || name.ends_with("_mm") ||
         name.find("_mm_") != std::string_view::npos;
}

/// Current torch launches collectives in the second. Operators of symmetric memory may be fused
/// with products, whose kernels are theirs.
bool is_collective_operator(std::string_view name) {
  if (is_collective_name(name) || name == "record_param_comms") return true;
  if (name.starts_with("c10d::") || name.starts_with("_c10d_functional::")) return true;
  return name.starts_with(kSymmetricMemory) && has_any(name, kParts) && !is_matrix_product(name);
}

/// Ranges in which all copies move data between devices.
bool copies_between_devices(std::string_view name) {
  return name.starts_with(kSymmetricMemory) && has_any(name, kParts);
}

/// CUPTI's and ROCm's names of copies from one device to another: `Memcpy PtoP (Device -> Device)`.
bool is_peer_copy(std::string_view name) {
  return name.find("PtoP") != std::string_view::npos || name.find("P2P") != std::string_view::npos;
}

/// Collectives on copy engines launch copies in place of a kernel: NCCL's, those of symmetric
/// memory.
class CollectiveCopies {
 public:
  explicit CollectiveCopies(const Trace& trace)
      : trace_(trace),
        collectives_(trace, is_collective_operator),
        symmetric_(trace, copies_between_devices) {}

  /// What the collective launched itself; what operators in it copied for it may stay on a device,
  /// unless it goes to another one.
  bool contains(const DeviceLink& link) {
    if (link.op != EventId::none && collectives_.passes(link.op)) return true;
    const bool is_peer = is_peer_copy(trace_.name(link.activity));
    const CallTree& tree = call_tree_of(trace_);
    EventId range = link.launch != EventId::none ? link.launch : link.op;
    for (; range != EventId::none; range = tree.parent(range)) {
      if (symmetric_.passes(range) || (is_peer && collectives_.passes(range))) return true;
    }
    return false;
  }

 private:
  const Trace& trace_;
  NameTest collectives_;
  NameTest symmetric_;
};

}  // namespace

bool is_communication_kernel(std::string_view name) {
  std::string readable(name);
  if (name.starts_with("_Z")) readable = demangle(readable, kLongestReadable).value_or(readable);
  const std::string text = lower_case(without_signature(readable));
  return has_any(text, kParts) && !has_any(text, kComputing);
}

std::vector<bool> communication_work(const Trace& trace) {
  std::vector<bool> is_communication(trace.events().size(), false);
  const IdMap ids = annotated_ids(trace);
  NameTest kernels(trace, is_communication_kernel);
  NameTest operators(trace, is_collective_operator);
  CollectiveCopies copies(trace);
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const std::int64_t id = trace.external_id(link.activity);
    const bool is_annotated = id != 0 && ids.find(id) != IdMap::kNone;
    const bool is_kernel = trace.kind(link.activity) == EventKind::kernel;
    const bool is_collectives = is_kernel
                                    ? kernels.passes(link.activity) ||
                                          (link.op != EventId::none && operators.passes(link.op))
                                    : copies.contains(link);
    is_communication[index(link.activity)] = is_annotated || is_collectives;
  }
  return is_communication;
}

}  // namespace tbtrace::analyses
