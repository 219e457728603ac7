#include "recorder/log/chunk.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include <sys/mman.h>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder {

namespace {

constexpr std::size_t words_of(std::size_t bytes) {
  return (bytes - sizeof(Chunk)) / sizeof(std::uint64_t);
}
constexpr std::size_t kUsualWords = words_of(kChunkBytes);
constexpr std::size_t kSlabBytes = std::size_t{2} << 20;  // a huge page
constexpr std::size_t kChunksOfSlab = kSlabBytes / kChunkBytes;
constexpr std::size_t kMostKept = 256;  // 64 MiB; more go back to the system

/// Memory that is linked by its first word.
class List {
 public:
  bool is_empty() const { return first_ == nullptr; }
  std::size_t size() const { return size_; }
  void push(void* memory) {
    first_ = new (memory) Free{first_};
    ++size_;
  }
  /// Null if it is empty.
  void* pop() {
    Free* const taken = first_;
    if (taken == nullptr) return nullptr;
    first_ = taken->next;
    --size_;
    return taken;
  }

 private:
  struct Free {
    Free* next;
  };
  Free* first_ = nullptr;
  std::size_t size_ = 0;
};

/// Free chunks of a smaller size. Those that are not kept go back to malloc().
class SmallPool {
 public:
  explicit SmallPool(std::size_t bytes) : bytes_(bytes) {}

  std::size_t bytes() const { return bytes_; }
  std::size_t words() const { return words_of(bytes_); }

  void* take() {
    {
      const std::lock_guard lock(mutex_);
      if (void* const memory = free_.pop()) return memory;
    }
    return std::malloc(bytes_);
  }

  void give(void* memory) {
    {
      const std::lock_guard lock(mutex_);
      if (free_.size() < kKeptBytes / bytes_) {
        free_.push(memory);
        return;
      }
    }
    std::free(memory);
  }

  void reserve(std::size_t count) {
    const std::lock_guard lock(mutex_);
    while (free_.size() < count) {
      void* const memory = std::malloc(bytes_);
      if (memory == nullptr) return;
      std::memset(memory, 0, bytes_);
      free_.push(memory);
    }
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  static constexpr std::size_t kKeptBytes = std::size_t{16} << 20;

  const std::size_t bytes_;
  std::mutex mutex_;
  List free_;
};

/// Free chunks of the usual size: those that have all their pages, those that were used and have
/// some, and bare ones. Slabs are never given back, but their pages are.
class Pool {
 public:
  explicit Pool(bool has_huge_pages) : has_huge_pages_(has_huge_pages) {}

  void* take(bool& has_pages) {
    const std::lock_guard lock(mutex_);
    has_pages = !ready_.is_empty();
    return has_pages ? ready_.pop() : take_without_pages();
  }

  void give(void* memory, bool has_pages) {
    const std::lock_guard lock(mutex_);
    if (ready_.size() + used_.size() < kMostKept) {
      (has_pages ? ready_ : used_).push(memory);
      return;
    }
    // All but the page with the link in it.
    constexpr std::size_t kPage = 4096;
    ::madvise(static_cast<char*>(memory) + kPage, kChunkBytes - kPage, MADV_DONTNEED);
    bare_.push(memory);
  }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

  void reserve(std::size_t count) {
    const std::lock_guard lock(mutex_);
    while (ready_.size() < count) {
      void* const memory = take_without_pages();
      if (memory == nullptr) return;
      std::memset(memory, 0, kChunkBytes);
      ready_.push(memory);
    }
  }

 private:
  void* take_without_pages() {
    if (!used_.is_empty()) return used_.pop();
    if (bare_.is_empty() && !grow()) return nullptr;
    return bare_.pop();
  }

  bool grow() {
    void* slab = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (slab == nullptr) return false;
    // One fault instead of 512; only a hint.
    if (has_huge_pages_) ::madvise(slab, kSlabBytes, MADV_HUGEPAGE);
    for (std::size_t at = kChunksOfSlab; at-- > 0;) {
      bare_.push(static_cast<char*>(slab) + at * kChunkBytes);
    }
    return true;
  }

  const bool has_huge_pages_;
  std::mutex mutex_;
  List ready_;
  List used_;
  List bare_;
};

struct Pools {
  std::array<SmallPool, 3> small = {SmallPool(kSmallestChunkBytes),
                                    SmallPool(kSmallestChunkBytes* kChunkGrowth),
                                    SmallPool(kSmallestChunkBytes* kChunkGrowth* kChunkGrowth)};
  Pool hurried{true};
  Pool spare{false};

  /// Null: chunks with so many words are not small.
  SmallPool* small_with(std::size_t words) {
    const auto found = std::find_if(small.begin(), small.end(), [words](const SmallPool& pool) {
      return pool.words() == words;
    });
    return found == small.end() ? nullptr : &*found;
  }

  void lock() {
    for (SmallPool& pool : small) pool.lock();
    hurried.lock();
    spare.lock();
  }
  void unlock() {
    spare.unlock();
    hurried.unlock();
    for (SmallPool& pool : small) pool.unlock();
  }
};
static_assert(kSmallestChunkBytes * kChunkGrowth * kChunkGrowth * kChunkGrowth == kChunkBytes);

Pools& pools();

constexpr ProcessPart kPart = {
    .order = PartOrder::chunks, .lock = [] { pools().lock(); }, .unlock = [] { pools().unlock(); }};
const AddedPart kAdded(kPart);

Pools& pools() {
  static NeverDestroyed<Pools> all;
  return *all;
}

Chunk* make_chunk(void* memory, std::size_t words) {
  if (memory == nullptr) return nullptr;
  Chunk* const chunk = new (memory) Chunk;
  chunk->capacity = words;
  return chunk;
}

}  // namespace

Chunk* take_chunk(std::size_t words, std::size_t bytes) {
  for (SmallPool& pool : pools().small) {
    if (bytes < kChunkGrowth * pool.bytes() && words <= pool.words()) {
      return make_chunk(pool.take(), pool.words());
    }
  }
  if (words > kUsualWords) {
    return make_chunk(std::malloc(sizeof(Chunk) + words * sizeof(std::uint64_t)), words);
  }
  bool has_pages = false;
  Chunk* const chunk = make_chunk(pools().hurried.take(has_pages), kUsualWords);
  if (chunk != nullptr) chunk->has_pages = has_pages;
  return chunk;
}

Chunk* take_spare_chunk() {
  bool has_pages = false;  // of which nothing is made ready
  Chunk* const chunk = make_chunk(pools().spare.take(has_pages), kUsualWords);
  if (chunk != nullptr) chunk->is_spare = true;
  return chunk;
}

void give_chunk(Chunk* chunk) {
  const std::size_t words = chunk->capacity;
  const bool has_pages = chunk->has_pages;
  Pool& pool = chunk->is_spare ? pools().spare : pools().hurried;
  chunk->~Chunk();
  if (words == kUsualWords) {
    pool.give(chunk, has_pages);
  } else if (SmallPool* const small = pools().small_with(words)) {
    small->give(chunk);
  } else {
    std::free(chunk);
  }
}

void reserve_chunks(std::size_t count) {
  for (SmallPool& pool : pools().small) pool.reserve(count);
  pools().hurried.reserve(count);
}

}  // namespace tbtrace::recorder
