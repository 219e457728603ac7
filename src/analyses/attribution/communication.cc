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
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kLongestReadable = std::size_t{1} << 16;  // bytes

/// Parts of names in lower case, without parameters. Sources: the kernels of NCCL and RCCL
/// (`ncclDevKernel_`, `ncclSymkDevKernel_`), MSCCL and MSCCL++, NVSHMEM, oneCCL; the custom
/// all-reduce of vLLM, SGLang and AITER (`cross_device_reduce`, `quickreduce`), TensorRT-LLM's and
/// FlashInfer's fused ones (`allreduce_fusion_kernel_oneshot_lamport`); PyTorch's symmetric memory
/// (torch/csrc/distributed/c10d/cuda); TransformerEngine's userbuffers; what sends tokens to
/// experts and back: DeepEP, pplx, MoRI (`EpDispatchIntraNodeKernel_bf16`), TensorRT-LLM
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
    "pplx::",
    "epdispatch",
    "epcombine",
    "moea2adispatch",
    "moea2acombine",
});

/// Parts of names that one of kParts is in, but that compute: torch.compile names its kernels after
/// all operators that it looked at, and DeepEP's layout only counts tokens.
constexpr auto kComputing = std::to_array<std::string_view>({
    "triton_poi_",
    "triton_red_",
    "triton_per_",
    "triton_tem_",
    "triton_for_",
    "triton_spl_",
    "triton_unk_",
    "get_dispatch_layout",
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

/// Current torch launches collectives in the second.
bool is_collective_operator(std::string_view name) {
  return is_collective_name(name) || name == "record_param_comms";
}

}  // namespace

bool is_communication_kernel(std::string_view name) {
  std::string readable(name);
  if (name.starts_with("_Z")) readable = demangle(readable, kLongestReadable).value_or(readable);
  const std::string text = lower_case(without_signature(readable));
  return has_any(text, kParts) && !has_any(text, kComputing);
}

std::vector<bool> communication_kernels(const Trace& trace) {
  std::vector<bool> is_communication(trace.events().size(), false);
  const IdMap ids = annotated_ids(trace);
  NameTest kernels(trace, is_communication_kernel);
  NameTest operators(trace, is_collective_operator);
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (trace.kind(link.activity) != EventKind::kernel) continue;
    const std::int64_t id = trace.external_id(link.activity);
    is_communication[index(link.activity)] =
        kernels.passes(link.activity) || (link.op != EventId::none && operators.passes(link.op)) ||
        (id != 0 && ids.find(id) != IdMap::kNone);
  }
  return is_communication;
}

}  // namespace tbtrace::analyses
