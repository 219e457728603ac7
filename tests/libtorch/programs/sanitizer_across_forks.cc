// For programs that fork under the address sanitizer. That of GCC 12 does not hold the locks of its
// allocator and of its list of threads while a process forks (LLVM's does from 17 on), so a child
// may find one that a thread of its parent had taken, for ever. Here no thread is in the allocator,
// begins or ends when a process forks.
#include <cerrno>
#include <climits>
#include <cstddef>
#include <new>

#include <pthread.h>
#include <semaphore.h>

extern "C" {
// The sanitizer's own.
void* __interceptor_malloc(std::size_t size);
void* __interceptor_calloc(std::size_t count, std::size_t size);
void* __interceptor_realloc(void* old, std::size_t size);
void* __interceptor_memalign(std::size_t alignment, std::size_t size);
int __interceptor_posix_memalign(void** place, std::size_t alignment, std::size_t size);
void* __interceptor_aligned_alloc(std::size_t alignment, std::size_t size);
void __interceptor_free(void* old);
int __interceptor_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*routine)(void*), void* argument);
}

namespace {

pthread_rwlock_t in_sanitizer = PTHREAD_RWLOCK_INITIALIZER;

struct InSanitizer {
  InSanitizer() { pthread_rwlock_rdlock(&in_sanitizer); }
  ~InSanitizer() { pthread_rwlock_unlock(&in_sanitizer); }
};

pthread_key_t thread_ends = 0;
char rounds[PTHREAD_DESTRUCTOR_ITERATIONS];  // of destructors, whose places are the key's values

/// The sanitizer forgets a thread in the last round of destructors, with a key that is earlier than
/// this one. The first round comes after the destructors of C++, which may take any lock.
void hold_while_thread_ends(void* round) {
  if (round == rounds) pthread_rwlock_rdlock(&in_sanitizer);
  char* const next = static_cast<char*>(round) + 1;
  if (next != rounds + PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(thread_ends, next);
  } else {
    pthread_rwlock_unlock(&in_sanitizer);
  }
}

/// What a thread is to do, owned by whoever makes the thread until it has begun.
struct Routine {
  void* (*call)(void*) = nullptr;
  void* argument = nullptr;
  sem_t has_begun{};
};

void* run(void* owned) {
  auto* const routine = static_cast<Routine*>(owned);
  const auto call = routine->call;
  void* const argument = routine->argument;
  pthread_setspecific(thread_ends, rounds);
  sem_post(&routine->has_begun);
  return call(argument);
}

// Handlers before a fork run in reverse order. This one is registered first and runs last: a thread
// that holds another lock may still allocate, and gives that lock back.
[[gnu::constructor(101)]] void hold_across_forks() {
  pthread_key_create(&thread_ends, hold_while_thread_ends);
  pthread_atfork([] { pthread_rwlock_wrlock(&in_sanitizer); },
                 [] { pthread_rwlock_unlock(&in_sanitizer); },
                 // Threads that waited for it are not in the child, but counted in the lock.
                 [] { in_sanitizer = PTHREAD_RWLOCK_INITIALIZER; });
}

void* new_block(std::size_t size, std::size_t alignment) {
  const InSanitizer lock;
  void* const block =
      alignment == 0 ? __interceptor_malloc(size) : __interceptor_memalign(alignment, size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

extern "C" {
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
  const InSanitizer lock;
  Routine owned = {.call = routine, .argument = argument};
  sem_init(&owned.has_begun, 0, 0);
  const int error = __interceptor_pthread_create(thread, attributes, run, &owned);
  while (error == 0 && sem_wait(&owned.has_begun) != 0 && errno == EINTR) {
  }
  sem_destroy(&owned.has_begun);
  return error;
}
void* malloc(std::size_t size) {
  const InSanitizer lock;
  return __interceptor_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  const InSanitizer lock;
  return __interceptor_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  const InSanitizer lock;
  return __interceptor_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  const InSanitizer lock;
  return __interceptor_memalign(alignment, size);
}
int posix_memalign(void** place, std::size_t alignment, std::size_t size) {
  const InSanitizer lock;
  return __interceptor_posix_memalign(place, alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  const InSanitizer lock;
  return __interceptor_aligned_alloc(alignment, size);
}
void free(void* old) {
  const InSanitizer lock;
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
