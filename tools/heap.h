// How the command line tool and the benchmarks take memory from the system.
// set_up_heap() changes the process; call it once, first thing in main().
#pragma once

#include <algorithm>
#include <cstddef>

#include <sys/resource.h>

#if defined(__GLIBC__)
#include <cstdlib>
#include <memory>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace tbtrace::tools {

#if defined(__GLIBC__)
/// Makes the heap at least so large, of huge pages where the system gives them. A page takes a call
/// of the system when it is first used, so large pages take fewer.
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
  mallopt(M_TRIM_THRESHOLD, 8 * kLargestReused);  // more than is reserved, or free() returns it
  mallopt(M_MMAP_THRESHOLD, 2 * kReserved);  // at first, so that what is reserved is in the heap
  reserve_heap(kReserved);
  mallopt(M_MMAP_THRESHOLD, kLargestReused);
#endif
}

/// More memory than this is refused to the process, as if there were no more. False if it is too
/// little to begin with, or the system has no such limit.
inline bool limit_memory(std::size_t bytes) {
  constexpr std::size_t kLeast = 32'000'000;
  rlimit limit = {};
  if (bytes < kLeast || ::getrlimit(RLIMIT_DATA, &limit) != 0) return false;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, bytes);
  return ::setrlimit(RLIMIT_DATA, &limit) == 0;
}

}  // namespace tbtrace::tools
