// What torch-tb-profiler takes times and names for.
// Pure functions.
// Source: kineto tb_plugin, profiler/{trace,event_parser}.py at 94979607^.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A time of the file as Python reads it, in microseconds: the double nearest to its decimal text.
double plugin_time(std::int64_t ns);

/// Kernels, copies and memsets that the plugin knows.
bool is_plugin_work(const Category& category);

/// A call that may have launched work: those of drivers are none to the plugin.
bool is_plugin_launch(const Trace& trace, EventId event);

/// `enumerate(DataLoader)#... .__next__`, `enumerate(DataPipe)#...`.
bool is_data_loading(std::string_view name);

/// `all_reduce` of `nccl:all_reduce`; empty unless the name is a collective's of a backend that the
/// plugin knows.
std::string_view plugin_operation(std::string_view name);

/// One of the five collectives of nccl and gloo that the plugin knows.
bool is_plugin_collective(std::string_view name);

}  // namespace tbtrace::analyses
