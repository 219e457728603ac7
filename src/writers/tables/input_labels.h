// Short names of several inputs, for people: what tells them apart.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace tbtrace::writers {

/// One label per path, in the same order: the path without the folders and the end that all paths
/// share, as in `iteration_10/rank0` for `/logs/iteration_10/rank0_trace.json`. Different paths get
/// different labels. If all paths are the same, its file name.
std::vector<std::string> input_labels(std::span<const std::string> paths);

}  // namespace tbtrace::writers
