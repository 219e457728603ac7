// The calling thread's stack as return addresses.
// Any thread. Where nothing can walk stacks, they are empty.
#pragma once

#include <vector>

namespace tbtrace::libtorch {

/// Whether there is a way here; slow once, and makes ready what unwind() needs.
bool can_unwind();

/// Innermost first, up to 128 frames; empty where there is no way.
std::vector<void*> unwind();

}  // namespace tbtrace::libtorch
