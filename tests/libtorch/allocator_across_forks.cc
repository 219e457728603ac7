// For programs that fork under the address sanitizer. That of GCC 12 does not hold the locks of its
// allocator while a process forks (LLVM's does from 17 on), so a child may find one that a thread
// of its parent had taken, for ever. Here no thread is in the allocator when a process forks.
#include <cstddef>
#include <new>

#include <pthread.h>

extern "C" {
// The sanitizer's own.
void* __interceptor_malloc(std::size_t size);
void* __interceptor_calloc(std::size_t count, std::size_t size);
void* __interceptor_realloc(void* old, std::size_t size);
void* __interceptor_memalign(std::size_t alignment, std::size_t size);
int __interceptor_posix_memalign(void** place, std::size_t alignment, std::size_t size);
void* __interceptor_aligned_alloc(std::size_t alignment, std::size_t size);
void __interceptor_free(void* old);
}

namespace {

pthread_rwlock_t in_allocator = PTHREAD_RWLOCK_INITIALIZER;

struct InAllocator {
  InAllocator() { pthread_rwlock_rdlock(&in_allocator); }
  ~InAllocator() { pthread_rwlock_unlock(&in_allocator); }
};

// Handlers before a fork run in reverse order. This one is registered first and runs last: a thread
// that holds another lock may still allocate, and gives that lock back.
[[gnu::constructor(101)]] void hold_across_forks() {
  pthread_atfork([] { pthread_rwlock_wrlock(&in_allocator); },
                 [] { pthread_rwlock_unlock(&in_allocator); },
                 // Threads that waited for it are not in the child, but counted in the lock.
                 [] { in_allocator = PTHREAD_RWLOCK_INITIALIZER; });
}

void* new_block(std::size_t size, std::size_t alignment) {
  const InAllocator lock;
  void* const block =
      alignment == 0 ? __interceptor_malloc(size) : __interceptor_memalign(alignment, size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) {
  const InAllocator lock;
  return __interceptor_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  const InAllocator lock;
  return __interceptor_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  const InAllocator lock;
  return __interceptor_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  const InAllocator lock;
  return __interceptor_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  const InAllocator lock;
  return __interceptor_posix_memalign(place, alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  const InAllocator lock;
  return __interceptor_aligned_alloc(alignment, size);
}
void free(void* old) {
  const InAllocator lock;
  __interceptor_free(old);
}
}

// The sanitizer has each form of new and delete itself, so none is left to the standard library.
void* operator new(std::size_t size) { return new_block(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return new_block(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size) { return new_block(size, 0); }
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return new_block(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return memalign(static_cast<std::size_t>(alignment), size);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return memalign(static_cast<std::size_t>(alignment), size);
}
void operator delete(void* old) noexcept { free(old); }
void operator delete[](void* old) noexcept { free(old); }
void operator delete(void* old, std::size_t) noexcept { free(old); }
void operator delete[](void* old, std::size_t) noexcept { free(old); }
void operator delete(void* old, std::align_val_t) noexcept { free(old); }
void operator delete[](void* old, std::align_val_t) noexcept { free(old); }
void operator delete(void* old, std::size_t, std::align_val_t) noexcept { free(old); }
void operator delete[](void* old, std::size_t, std::align_val_t) noexcept { free(old); }
void operator delete(void* old, const std::nothrow_t&) noexcept { free(old); }
void operator delete[](void* old, const std::nothrow_t&) noexcept { free(old); }
void operator delete(void* old, std::align_val_t, const std::nothrow_t&) noexcept { free(old); }
void operator delete[](void* old, std::align_val_t, const std::nothrow_t&) noexcept { free(old); }
