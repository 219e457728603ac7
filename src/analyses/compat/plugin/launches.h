// Which call launched which device work, as torch-tb-profiler matches them.
// Results are plain values.
// Source: kineto tb_plugin, profiler/event_parser.py at 94979607^.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// All events by the plugin's start times, which are doubles; events with equal starts in file
/// order.
std::vector<EventId> plugin_order(const Trace& trace);

/// All kernels, memcpys and memsets with their launches, in the plugin's order; operators are not
/// set. The plugin uses only `correlation`: the latest call before the work with the same number,
/// else the first one after it. A missing number matches a missing number. `order`: from
/// plugin_order().
std::vector<DeviceLink> plugin_launches(const Trace& trace, std::span<const EventId> order);

}  // namespace tbtrace::analyses
