#include "recorder/journal/slots.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>

#include "recorder/journal/checksums.h"

namespace tbtrace::recorder::journal {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t words_of(std::size_t slot_bytes) {
  return (slot_bytes - kSlotHeadBytes) / sizeof(std::uint64_t);
}

/// Has all pages there, so that who stores into them waits for none.
void populate(char* memory, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (::madvise(memory, bytes, MADV_POPULATE_WRITE) == 0) return;
#endif
  for (std::size_t at = kPage - 1; at < bytes; at += kPage) {
    static_cast<volatile char*>(memory)[at] = 0;
  }
}

}  // namespace

Slots::Size* Slots::size_of(std::size_t bytes) {
  const auto found = std::find_if(sizes_.begin(), sizes_.end(),
                                  [&](const Size& size) { return size.bytes == bytes; });
  return found == sizes_.end() ? nullptr : &*found;
}

/// Requires the lock.
Slots::Slot* Slots::pop(Size& size) {
  if (size.ready.size() <= limits_.ready / 2) wants_more_.store(true, std::memory_order_relaxed);
  if (size.ready.empty()) return nullptr;
  Slot* const slot = size.ready.back();
  size.ready.pop_back();
  return slot;
}

Chunk* Slots::take(std::size_t words, std::uint64_t window, std::uint64_t log,
                   std::uint64_t sequence) {
  Slot* slot = nullptr;
  const std::size_t wanted = kSlotHeadBytes + words * sizeof(std::uint64_t);
  const bool is_large = wanted > sizes_.back().bytes;
  if (is_large) {
    slot = large((wanted + kPage - 1) / kPage * kPage);
    if (slot == nullptr) return nullptr;
  }
  const std::lock_guard lock(mutex_);
  if (!is_large) {
    const bool is_small = sequence == 0 && wanted <= sizes_.front().bytes;
    slot = pop(is_small ? sizes_.front() : sizes_.back());
    if (slot == nullptr) return nullptr;
  }
  slot->is_taken = true;
  slot->is_full = slot->is_given = false;
  slot->marked_words = 0;
  slot->checksum = 0;
  slot->next_mark = 0;
  slot->has_new_mark = false;
  taken_.push_back(slot);
  SlotHead& head = *slot->head;
  Chunk* const chunk = new (chunk_of(&head)) Chunk;
  chunk->capacity = words_of(slot->bytes);
  chunk->end = &head.end;
  head.log = log;
  head.sequence = sequence;
  head.words_at = reinterpret_cast<std::uintptr_t>(chunk->words());
  head.end.store(head.words_at, std::memory_order_relaxed);
  head.marks = {};
  head.owner = reinterpret_cast<std::uintptr_t>(slot);
  head.window.store(window, std::memory_order_release);
  return chunk;
}

void Slots::fill(Chunk* chunk) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): take() stored it there
  auto& slot = *reinterpret_cast<Slot*>(slot_of(chunk)->owner);
  const std::lock_guard lock(mutex_);
  slot.is_full = true;
}

void Slots::give(Chunk* chunk) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): take() stored it there
  auto& slot = *reinterpret_cast<Slot*>(slot_of(chunk)->owner);
  const std::lock_guard lock(mutex_);
  slot.head->window.store(0, std::memory_order_release);
  if (slot.is_looked_at) {
    slot.is_given = true;
  } else {
    put_back(slot);
  }
}

/// Requires the lock.
void Slots::put_back(Slot& slot) {
  slot.is_taken = false;
  const auto at = std::find(taken_.begin(), taken_.end(), &slot);
  *at = taken_.back();
  taken_.pop_back();
  Size* const size = size_of(slot.bytes);
  if (size == nullptr) return;  // a large one, which is not used again
  if (slot.is_resident && size->ready.size() < 2 * limits_.ready) {
    size->ready.push_back(&slot);
  } else {
    size->used.push_back(&slot);
  }
}

/// For more than most records need.
Slots::Slot* Slots::large(std::size_t bytes) {
  std::vector<Slot*> made;
  return add_segment(bytes, 1, made).ok() ? made.front() : nullptr;
}

Status Slots::add_segment(std::size_t slot_bytes, std::size_t slots, std::vector<Slot*>& into) {
  const std::size_t bytes = kSegmentHeadBytes + slot_bytes * slots;
  const std::lock_guard files_lock(files_mutex_);
  if (limits_.most_bytes != 0 && file_bytes_ + bytes > limits_.most_bytes) {
    return {StatusCode::unwritable_output,
            fmt::format("the journal has {} of the {} MiB that it may have, and its next file "
                        "takes {} MiB",
                        file_bytes_ >> 20, limits_.most_bytes >> 20, bytes >> 20)};
  }
  const Result<char*> made =
      files_.create(fmt::format("{}{:06}{}", kSegmentStart, segments_ + 1, kSuffix), bytes);
  if (!made.ok()) return made.status();
  ++segments_;
  file_bytes_ += bytes;
  auto* const head = new (*made) SegmentHead;
  head->version = kVersion;
  head->byte_order = kByteOrder;
  head->slot_bytes = slot_bytes;
  head->magic = kSegmentMagic;
  head->slots.store(slots, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  for (std::size_t number = 0; number < slots; ++number) {
    Slot& slot = slots_.emplace_back();
    slot.head = new (*made + kSegmentHeadBytes + number * slot_bytes) SlotHead;
    slot.bytes = slot_bytes;
    into.push_back(&slot);
  }
  return {};
}

Status Slots::prepare() {
  Status status;
  wants_more_.store(false, std::memory_order_relaxed);
  for (Size& size : sizes_) {
    for (;;) {
      Slot* slot = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (size.ready.size() >= limits_.ready) break;
        if (!size.used.empty()) {
          slot = size.used.back();
          size.used.pop_back();
        }
      }
      if (slot == nullptr) {
        std::vector<Slot*> made;
        for (std::size_t slots = size.segment_slots; slots > 0 && made.empty(); slots /= 2) {
          status = add_segment(size.bytes, slots, made);  // smaller files where there is less room
        }
        if (made.empty()) break;
        const std::lock_guard lock(mutex_);
        size.used.insert(size.used.end(), made.rbegin(), made.rend());
        continue;
      }
      populate(reinterpret_cast<char*>(slot->head), slot->bytes);
      const std::lock_guard lock(mutex_);
      slot->is_resident = true;
      size.ready.push_back(slot);
    }
  }
  return status;
}

void Slots::mark() {
  std::vector<Slot*> looked_at;
  {
    const std::lock_guard lock(mutex_);
    for (Slot* const slot : taken_) {
      if (!slot->is_resident) continue;  // it is full, and marked
      looked_at.push_back(slot);
      slot->is_looked_at = true;
    }
  }
  std::size_t resident = 0;
  std::reverse(looked_at.begin(), looked_at.end());  // the newest first
  for (Slot* const looked : looked_at) {
    Slot& slot = *looked;
    bool is_full = false;
    {
      const std::lock_guard lock(mutex_);
      is_full = slot.is_full;
    }
    const std::uint64_t end = slot.head->end.load(std::memory_order_acquire);
    mark(slot, (end - slot.head->words_at) / sizeof(std::uint64_t));
    bool leaves = false;
    if (is_full) {
      resident += slot.bytes;
      leaves = resident > limits_.resident_bytes && slot.bytes >= kChunkBytes;
      // The file keeps them. Not the first page, with what the log knows the chunk by.
      if (leaves) {
        ::madvise(reinterpret_cast<char*>(slot.head) + kPage, slot.bytes - kPage, MADV_DONTNEED);
      }
    }
    const std::lock_guard lock(mutex_);
    if (leaves) slot.is_resident = false;
    slot.is_looked_at = false;
    if (slot.is_given) put_back(slot);
  }
}

void Slots::settle() {
  const std::lock_guard lock(mutex_);
  for (Slot* const slot : taken_) {
    if (std::exchange(slot->has_new_mark, false)) slot->next_mark = 1 - slot->next_mark;
  }
}

std::vector<std::span<char>> Slots::taken_at_end() {
  const std::lock_guard lock(mutex_);
  for (Size& size : sizes_) {
    size.ready.clear();
    size.used.clear();
  }
  std::vector<std::span<char>> taken;
  for (Slot* const slot : taken_) {
    taken.emplace_back(reinterpret_cast<char*>(slot->head), slot->bytes);
  }
  return taken;
}

void Slots::mark(Slot& slot, std::uint64_t words) {
  if (words <= slot.marked_words) return;
  const std::uint64_t* const first = chunk_of(slot.head)->words();
  slot.checksum =
      checksum_of_words(first + slot.marked_words,
                        static_cast<std::size_t>(words - slot.marked_words), slot.checksum);
  slot.marked_words = words;
  SlotMark& mark = slot.head->marks[slot.next_mark];
  slot.has_new_mark = true;
  mark.words = words;
  mark.words_checksum = slot.checksum;
  mark.checksum = checksum_of(mark);
}

}  // namespace tbtrace::recorder::journal
