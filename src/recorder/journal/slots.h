// The chunks of a journal: slots of its files, which are made ready ahead of those who need them.
// take(), fill() and give() may be called from any thread and wait for nothing slow: where nothing
// is ready there is no chunk. Only a record of more than 256 KiB has its file made when it comes.
// The others are for one thread, which may wait for a disk. Owns no files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include <tbtrace/status.h>

#include "recorder/journal/layout.h"
#include "recorder/journal/segment_files.h"

namespace tbtrace::recorder::journal {

struct SlotLimits {
  std::uint64_t most_bytes = 0;                        ///< of all files; 0: no limit
  std::size_t ready = 64;                              ///< slots of each size
  std::size_t resident_bytes = std::size_t{32} << 20;  ///< of full slots; others are on disk only
};

class Slots {
 public:
  Slots(SegmentFiles& files, const SlotLimits& limits) : files_(files), limits_(limits) {}
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  Chunk* take(std::size_t words, std::uint64_t window, std::uint64_t log, std::uint64_t sequence);
  void fill(Chunk* chunk);
  void give(Chunk* chunk);
  /// Fewer are ready than half of what should be.
  bool wants_more() const { return wants_more_.load(std::memory_order_relaxed); }

  /// Makes slots ready. The failure of the last file that could not be made; it is tried again.
  Status prepare();
  /// Notes how much of each slot is whole, and has full ones leave memory.
  void mark();
  /// What is marked is on the disk, as far as anybody knows: these marks stay until the next call.
  void settle();
  /// The memory of slots that somebody has, at the end: none is taken any more.
  std::vector<std::span<char>> taken_at_end();

 private:
  struct Slot {
    SlotHead* head = nullptr;
    std::size_t bytes = 0;
    std::uint64_t marked_words = 0;
    std::uint32_t checksum = 0;  // of these
    std::size_t next_mark = 0;
    bool has_new_mark = false;  // since settle()
    bool is_taken = false;
    bool is_full = false;
    bool is_resident = true;
    bool is_looked_at = false;  // by mark()
    bool is_given = false;      // while it was looked at
  };
  struct Size {
    std::size_t bytes;
    std::size_t segment_slots;
    std::vector<Slot*> ready = {};
    std::vector<Slot*> used = {};  // whose pages may not be there
  };

  Slot* pop(Size& size);
  Slot* large(std::size_t bytes);
  Status add_segment(std::size_t slot_bytes, std::size_t slots, std::vector<Slot*>& into);
  void put_back(Slot& slot);
  Size* size_of(std::size_t bytes);
  static void mark(Slot& slot, std::uint64_t words);

  SegmentFiles& files_;
  const SlotLimits limits_;
  std::atomic<bool> wants_more_ = false;

  std::mutex files_mutex_;  // of files_ and what follows
  std::size_t segments_ = 0;
  std::uint64_t file_bytes_ = 0;

  std::mutex mutex_;  // what follows
  std::deque<Slot> slots_;
  std::vector<Slot*> taken_;
  std::array<Size, 2> sizes_ = {Size{.bytes = std::size_t{16} << 10, .segment_slots = 64},
                                Size{.bytes = kChunkBytes, .segment_slots = 64}};
};

}  // namespace tbtrace::recorder::journal
