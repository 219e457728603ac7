// How torch-tb-profiler interprets times and names.
// Source: kineto tb_plugin, profiler/{trace,event_parser}.py at 94979607^.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A time from the file as Python reads it, in microseconds: the double nearest to its decimal
/// text.
double plugin_time(std::int64_t ns);

/// Kernels, memcpys and memsets that the plugin knows.
bool is_plugin_work(const Category& category);

/// Those of them that are kernels.
bool is_plugin_kernel(const Category& category);

/// A call that may have launched work. The plugin does not count driver calls.
bool is_plugin_launch(const Trace& trace, EventId event);

}  // namespace tbtrace::analyses
