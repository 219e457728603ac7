// What operation a collective is, from the names that libraries give it.
// Any bytes are accepted as a name. Constants and pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/collective_kind.h>

namespace tbtrace::analyses {

/// The name of kernels that send and receive at once, between any two ranks of a group.
inline constexpr std::string_view kSendReceive = "send_receive";

/// From one rank to another one.
constexpr bool is_message(CollectiveKind kind) {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive;
}

/// From c10d's name of it (`allreduce`, `_allgather_base`, `nccl:all_reduce`), or from a kernel's
/// name (`ncclDevKernel_AllReduce_Sum_f32_RING_LL`, `cross_device_reduce_1stage`).
CollectiveKind operation_named(std::string_view name);

/// A name that is equal on all ranks and without what libraries decorate it with: the operation's
/// name if it is known and the kernel is one of NCCL or RCCL, else the kernel's function without
/// namespaces and template arguments. At most 100 characters.
std::string kernel_operation_name(std::string_view kernel);

/// Calls that c10d records like collectives, but that move no data: `wait`, `init`, and the start
/// and end of a group of calls.
bool is_bookkeeping(std::string_view collective_name);

}  // namespace tbtrace::analyses
