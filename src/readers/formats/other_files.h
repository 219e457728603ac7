// Files that are given to tbtrace and hold something else: what they are, and what reads them.
// To add a kind, add a row to the table in other_files.cc. They are known by their content alone.
#pragma once

#include <string_view>

namespace tbtrace::readers {

/// `is a memory snapshot (...), not a trace; open it at ...`, for a content that begins so; empty
/// if it is not of a known kind. `start`: as much of it as readers::kSniffSize.
std::string_view other_file(std::string_view start);

/// Whether a content that begins so is a memory snapshot of PyTorch's allocator, as a pickle.
bool is_memory_snapshot(std::string_view start);

}  // namespace tbtrace::readers
