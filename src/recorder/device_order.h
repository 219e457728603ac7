// The order in which device activity is written, and which calls and streams it has.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recorder/device_activity.h"
#include "recorder/device_links.h"

namespace tbtrace::recorder {

/// Row numbers by start; equal starts in the order of the rows.
std::vector<std::uint32_t> calls_by_start(const DeviceActivity& activity);
std::vector<std::uint32_t> works_by_start(const DeviceActivity& activity);

/// By call: whether it launched work that was recorded.
std::vector<bool> calls_with_work(const DeviceActivity& activity, const DeviceLinks& links);

/// Names of the threads that device activity is shown on, by device and thread.
std::map<std::pair<std::int64_t, std::int64_t>, std::string> stream_names(
    const DeviceActivity& activity);

}  // namespace tbtrace::recorder
