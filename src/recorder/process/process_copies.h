// Whether this is the only copy of the library in the process. Two copies, each linked into another
// shared library, would both stand between LibTorch and its allocator, and CUPTI serves one only.
#pragma once

namespace tbtrace::recorder {

/// False if another copy asked before this one. The first call marks the process, and looks; later
/// ones, and those of forked children, repeat the answer. True where nobody can tell.
bool is_only_copy();

}  // namespace tbtrace::recorder
