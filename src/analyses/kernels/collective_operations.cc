#include "analyses/kernels/collective_operations.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "analyses/kernels/names.h"
#include "base/characters.h"

namespace tbtrace::analyses {
namespace {

struct NamedOperation {
  std::string_view part;  ///< in lower case, without `_`, `-` and blanks
  CollectiveKind kind;
};

/// The first one that a name contains. Sources: record_param_comms in c10d's ProcessGroup*.cpp,
/// the kernels of NCCL and RCCL, the custom all-reduce kernels of vLLM, SGLang, AITER and
/// TensorRT-LLM, and c10d's symmetric memory (`multimem_all_reduce`).
constexpr auto kOperations = std::to_array<NamedOperation>({
    {"sendrecv", CollectiveKind::other},
    {"batchisendirecv", CollectiveKind::other},
    {"coalesced", CollectiveKind::other},
    {"alltoall", CollectiveKind::all_to_all},
    {"all2all", CollectiveKind::all_to_all},
    {"allreduce", CollectiveKind::all_reduce},
    {"crossdevicereduce", CollectiveKind::all_reduce},
    {"quickreduce", CollectiveKind::all_reduce},
    {"allgather", CollectiveKind::all_gather},
    {"reducescatter", CollectiveKind::reduce_scatter},
    {"broadcast", CollectiveKind::broadcast},
    {"barrier", CollectiveKind::barrier},
    {"gather", CollectiveKind::gather},
    {"scatter", CollectiveKind::scatter},
    {"reduce", CollectiveKind::reduce},
    {"recv", CollectiveKind::receive},
    {"receive", CollectiveKind::receive},
    {"send", CollectiveKind::send},
});

/// In lower case, without separators: `_allgather_base` and `AllGather` become alike.
std::string plain_collective(std::string_view name) {
  std::string text = lower_case(name);
  std::erase_if(text, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return text;
}

/// `allreduce_coalesced` is an all-reduce; `coalesced` alone may be anything.
CollectiveKind collective_in(std::string_view text) {
  for (const NamedOperation& operation : kOperations) {
    const bool is_whole_only = operation.part == "coalesced";
    if (is_whole_only ? text == operation.part
                      : text.find(operation.part) != std::string_view::npos) {
      return operation.kind;
    }
  }
  return CollectiveKind::other;
}

}  // namespace

CollectiveKind operation_named(std::string_view name) {
  return collective_in(plain_collective(name));
}

std::string kernel_operation_name(std::string_view kernel) {
  const std::string text = plain_collective(kernel);
  const CollectiveKind kind = collective_in(text);
  const bool is_nccl =
      text.find("nccl") != std::string::npos || text.find("rccl") != std::string::npos;
  if (is_nccl && kind != CollectiveKind::other) return std::string(collective_kind_name(kind));
  if (is_nccl && text.find("sendrecv") != std::string::npos) return std::string(kSendReceive);
  return short_kernel_name(kernel);
}

bool is_bookkeeping(std::string_view collective_name) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"wait", "init", "startcoalescing", "endcoalescing", "groupstart", "groupend"});
  return std::ranges::find(kNames, plain_collective(collective_name)) != kNames.end();
}

}  // namespace tbtrace::analyses

namespace tbtrace {

std::string_view collective_kind_name(CollectiveKind kind) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather",
       "scatter", "barrier", "send", "receive", "other"});
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace tbtrace
