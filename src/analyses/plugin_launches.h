// Which call launched which device work, as torch-tb-profiler joins them.
// Results are plain values; pure functions.
// Source: kineto tb_plugin, profiler/event_parser.py at 94979607^.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A kernel, copy or memset; EventId::none where nothing in the file launched it.
struct LaunchedWork {
  EventId work = EventId::none;
  EventId launch = EventId::none;
};

/// All events by the plugin's start times, which are doubles; those that are equal as in the file.
std::vector<EventId> plugin_order(const Trace& trace);

/// All work, in the plugin's order. The plugin has `correlation` only: the latest call before the
/// work that bears its number, else the first after it; to have no number is a number like any
/// other. `order`: what plugin_order() gives.
std::vector<LaunchedWork> plugin_launches(const Trace& trace, std::span<const EventId> order);

}  // namespace tbtrace::analyses
