// The memory that a program of this project takes from the system, for speed.
// Call it once, before anything is allocated that matters; it changes the process.
#pragma once

#if defined(__GLIBC__)
#include <cstddef>
#include <cstdlib>
#include <memory>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tbtrace::tools {

#if defined(__GLIBC__)
/// Makes the heap so large, of huge pages where the system gives them: they are filled when they
/// are used, and each small page would take its own visit to the system.
inline void reserve_heap(std::size_t bytes) {
  void* const heap = std::malloc(bytes);
  if (heap == nullptr) return;
#if defined(MADV_HUGEPAGE)
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* from = heap;
  std::size_t room = bytes;
  if (std::align(page, page, from, room) != nullptr) {
    ::madvise(from, room - room % page, MADV_HUGEPAGE);
  }
#endif
  std::free(heap);
}
#endif

/// Reading and the analyses use arrays one after the other; returning each to the system and
/// faulting its pages in again takes time. The largest arrays are still returned: as holes they
/// would be wasted memory.
inline void set_up_heap() {
#if defined(__GLIBC__)
  constexpr int kLargestReused = 2 << 20;
  constexpr int kReserved = 7 * kLargestReused;
  mallopt(M_TRIM_THRESHOLD, 8 * kLargestReused);  // more, or all would be returned at once
  mallopt(M_MMAP_THRESHOLD, 2 * kReserved);  // for now: what is mapped alone is not of the heap
  reserve_heap(kReserved);
  mallopt(M_MMAP_THRESHOLD, kLargestReused);
#endif
}

}  // namespace tbtrace::tools
