// Which range owns device work and memory, in the exact definition.
// Pure functions of a Trace and its exact tree.
// Without an owner the result is EventId::none, shown as `[unattributed]`.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {

/// Whether a name is an operator's: ranges of users, of TorchScript and of compiled code have no
/// namespace.
inline bool is_operator_name(std::string_view name) {
  return name.find("::") != std::string_view::npos;
}

/// The host range that device work belongs to: its operator; else the range around its launch; else
/// the launch.
EventId owner_of_work(const CallTree& tree, const DeviceLink& link);

/// Calls `visit` for each memory record with the range that was running on its thread: among the
/// ranges open at that time, the one that started last.
void for_each_memory_owner(const Trace& trace, const CallTree& tree,
                           const std::function<void(const MemoryRecord&, EventId)>& visit);

/// Host memory, and memory of what torch counts as a device.
bool is_cpu_memory(DeviceType device);
bool is_device_memory(DeviceType device);

}  // namespace tbtrace::analyses
