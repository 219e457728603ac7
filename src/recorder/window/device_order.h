// The order in which device activity is written, and which calls and streams it has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recorder/log/device_trace.h"
#include "recorder/window/device_links.h"

namespace tbtrace::recorder {

/// Row numbers by start; equal starts in the order of the rows.
std::vector<std::uint32_t> calls_by_start(const DeviceTrace& trace);
std::vector<std::uint32_t> activities_by_start(const DeviceTrace& trace);

/// By call: whether it launched an activity that was recorded.
std::vector<bool> calls_with_activity(const DeviceTrace& trace, const DeviceLinks& links);

/// Names of the threads that device activity is shown on, by device and thread.
std::map<std::pair<std::int64_t, std::int64_t>, std::string> stream_names(const DeviceTrace& trace);

}  // namespace tbtrace::recorder
