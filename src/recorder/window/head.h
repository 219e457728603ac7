// The top-level members of a window's trace, its time base and its first External id.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recorder/window/window.h"

namespace tbtrace::recorder {

/// The trace's members, each as JSON, in the order of the file. Keys are UTF-8.
std::vector<std::pair<std::string, std::string>> trace_members(const Window& window);

/// `baseTimeNanoseconds`, which times are counted from. Kineto's: the start of a period of a
/// quarter of a year, counted from 1970.
std::int64_t base_time_ns(const Window& window);

/// `External id` of the window's first range.
std::uint64_t first_external_id(const Window& window);

/// The name of the process's main thread.
std::string program_name(const Window& window, std::int64_t process);

}  // namespace tbtrace::recorder
