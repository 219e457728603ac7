// The memory timeline of a device in a recorded window, as torch.profiler exports it.
// Pure function; the recording must have inputs with the addresses of their storages, and memory.
#pragma once

#include "recorder/log/storage_key.h"
#include "recorder/memory/operator_schemas.h"
#include "recorder/window/window.h"
#include "report/memory_timeline.h"

namespace tbtrace::recorder {

MemoryTimeline memory_timeline(const Window& window, OperatorSchemas& schemas,
                               MemoryDevice device = MemoryDevice::cpu());

}  // namespace tbtrace::recorder
