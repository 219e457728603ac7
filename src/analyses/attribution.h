// Whose work and whose memory it was, in the exact figures.
// Pure functions over a Trace and its exact tree.
// What belongs to nobody has the owner EventId::none and is shown as `[unattributed]`.
#pragma once

#include <cstdint>
#include <functional>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {

/// The range of the host that device work belongs to: its operator; else the range that holds
/// its launch; else the launch.
EventId owner_of_work(const CallTree& tree, const DeviceLink& work);

/// Calls `visit` for each change of memory with the range that was running on its thread: of those
/// that had started and not ended before, the one that started last.
void for_each_memory_owner(const Trace& trace, const CallTree& tree,
                           const std::function<void(const MemoryRecord&, EventId)>& visit);

/// c10::DeviceType by number: memory of the host, and memory of what torch counts as a device.
bool is_cpu_memory(int device_type);
bool is_device_memory(int device_type);

}  // namespace tbtrace::analyses
