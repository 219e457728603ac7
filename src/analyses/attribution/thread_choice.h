// The host threads that a user named, and what threads are called.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

/// By track, whether its host ranges are of a thread with this id or name; without such a thread,
/// of those whose name has `wanted` in it. Fails if there is none, and names those that there are.
Result<std::vector<bool>> chosen_threads(const Trace& trace, const CallTree& tree,
                                         std::string_view wanted);

/// `thread 12 (main)`, with its process before it if another process has such a thread as well.
std::string thread_label(const Trace& trace, TrackId thread);

}  // namespace tbtrace::analyses
