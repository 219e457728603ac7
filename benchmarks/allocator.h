// Sets the allocator of a benchmark as that of the program.
#pragma once

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tbtrace {

/// The values are those of tools/main.cc.
inline void set_allocator_of_program() {
#if defined(__GLIBC__)
  constexpr int kLargestReused = 2 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargestReused);
  mallopt(M_TRIM_THRESHOLD, 8 * kLargestReused);
#endif
}

}  // namespace tbtrace
