// Passes the device activity of a window on, in the form that Kineto gives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recorder/log/device_trace.h"
#include "recorder/window/row_batch.h"
#include "recorder/window/window.h"

namespace tbtrace::recorder {

/// `[{"id": 0, ...}]`, for the head of a trace.
std::string device_properties_json(const std::vector<DeviceProperties>& devices);

// The window must have device activity.

/// Names the processes and threads that device activity is shown on.
void name_devices(const Window& window, std::string_view program, RowBatch& batch);

/// Ids of operators are rows of the window's ranges + `first_id`; `process` is the program's.
void add_device_rows(const Window& window, std::int64_t process, std::uint64_t first_id,
                     RowBatch& batch);

}  // namespace tbtrace::recorder
