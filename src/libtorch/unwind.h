// The calling thread's stack as return addresses.
// Any thread. Where nothing can walk stacks, they are empty.
#pragma once

#include <vector>

namespace tbtrace::libtorch {

/// Makes ready what unwind() needs; slow once.
void load_unwinder();

/// Innermost first. \throws as LibTorch does where it cannot go on.
std::vector<void*> unwind();

}  // namespace tbtrace::libtorch
