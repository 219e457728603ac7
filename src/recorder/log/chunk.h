// Memory that threads write their records into, and where it comes from.
// A chunk belongs to one log, which says how much of it is written.
// The pool may be used from any thread. No memory: no chunk, and whoever asked counts the loss.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tbtrace::recorder {

inline constexpr std::size_t kChunkBytes = std::size_t{256} << 10;  ///< the usual size
inline constexpr std::size_t kSmallestChunkBytes = std::size_t{4} << 10;
inline constexpr std::size_t kChunkGrowth = 4;  ///< from one size to the next: 4, 16, 64, 256 KiB

/// The head of a chunk; its words follow it.
struct Chunk {
  Chunk* next = nullptr;
  std::size_t committed = 0;  ///< words that are written, once there is a next chunk
  std::size_t capacity = 0;   ///< words
  bool has_pages = false;     ///< all of them were written to once
  bool is_spare = false;      ///< of take_spare_chunk()
  /// Gets the address behind what is written, after each record; null: only the log knows it.
  std::atomic<std::uint64_t>* end = nullptr;

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(this + 1); }
};

/// A chunk of `bytes`, rounded down to a size that there is, or of the first larger one that
/// `words` fit into; words that fit into none get a chunk of their own. Null if there is no memory.
/// Chunks are used again, so that their pages are there.
Chunk* take_chunk(std::size_t words = 0, std::size_t bytes = kChunkBytes);
/// One of the usual size for writers that no thread of the program waits for: not among those that
/// reserve_chunks() has ready, and of small pages. A huge one can cost more than all the small ones
/// instead of it, where the system has to find memory that was not used lately.
Chunk* take_spare_chunk();
void give_chunk(Chunk* chunk);

/// Gets this many chunks of each size ready, with their pages in memory, so that a start costs
/// little.
void reserve_chunks(std::size_t count);

}  // namespace tbtrace::recorder
