#include "recorder/chunk.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <pthread.h>
#include <sys/mman.h>

namespace tbtrace::recorder {

namespace {

constexpr std::size_t kUsualWords = (kChunkBytes - sizeof(Chunk)) / sizeof(std::uint64_t);
constexpr std::size_t kSlabBytes = std::size_t{2} << 20;  // a huge page
constexpr std::size_t kChunksOfSlab = kSlabBytes / kChunkBytes;
constexpr std::size_t kMostKept = 256;  // 64 MiB; more go back to the system

/// Free chunks of the usual size. Slabs are never given back, but their pages are.
class Pool {
 public:
  void* take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr && !grow()) return nullptr;
    Free* taken = free_;
    free_ = taken->next;
    --count_;
    return taken;
  }

  void give(void* memory) {
    const std::lock_guard lock(mutex_);
    if (count_ >= kMostKept) {
      // All but the page with the link in it.
      constexpr std::size_t kPage = 4096;
      ::madvise(static_cast<char*>(memory) + kPage, kChunkBytes - kPage, MADV_DONTNEED);
    }
    put(memory);
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  void reserve(std::size_t count) {
    const std::lock_guard lock(mutex_);
    while (count_ < count) {
      Free* const before = free_;
      if (!grow()) return;
      for (Free* chunk = free_; chunk != before; chunk = chunk->next) {
        std::memset(reinterpret_cast<char*>(chunk) + sizeof(Free), 0, kChunkBytes - sizeof(Free));
      }
    }
  }

 private:
  struct Free {
    Free* next;
  };

  void put(void* memory) {
    free_ = new (memory) Free{free_};
    ++count_;
  }

  bool grow() {
    void* slab = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (slab == nullptr) return false;
    ::madvise(slab, kSlabBytes, MADV_HUGEPAGE);  // one fault instead of 512; only a hint
    for (std::size_t at = kChunksOfSlab; at-- > 0;)
      put(static_cast<char*>(slab) + at * kChunkBytes);
    return true;
  }

  std::mutex mutex_;
  Free* free_ = nullptr;
  std::size_t count_ = 0;
};

/// Never destroyed: threads may record while the program ends. A forked child finds it unlocked.
Pool& pool() {
  static Pool& one = []() -> Pool& {
    ::pthread_atfork([] { pool().lock(); }, [] { pool().unlock(); }, [] { pool().unlock(); });
    return *new Pool;
  }();
  return one;
}

}  // namespace

Chunk* take_chunk(std::size_t words) {
  const bool usual = words <= kUsualWords;
  void* memory = usual ? pool().take() : std::malloc(sizeof(Chunk) + words * sizeof(std::uint64_t));
  if (memory == nullptr) return nullptr;
  Chunk* chunk = new (memory) Chunk;
  chunk->capacity = usual ? kUsualWords : words;
  return chunk;
}

void give_chunk(Chunk* chunk) {
  const bool usual = chunk->capacity == kUsualWords;
  chunk->~Chunk();
  if (usual) {
    pool().give(chunk);
  } else {
    std::free(chunk);
  }
}

void reserve_chunks(std::size_t count) { pool().reserve(count); }

}  // namespace tbtrace::recorder
