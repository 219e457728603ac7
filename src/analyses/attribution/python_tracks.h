// Which threads have Python frames as ranges.
// Pure function.
#pragma once

#include <vector>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

/// By track, whether its process has Python frames as ranges, modules aside.
std::vector<bool> tracks_with_frames(const Trace& trace, const CallTree& tree);

}  // namespace tbtrace::analyses
