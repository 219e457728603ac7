// What one thread recorded in one recording: chunks of words, written without locks.
// The recorded thread writes; once its recording has ended, any thread may read what was committed
// until the first of them does. Owns its chunks but for those that drop_chunks() gave away; names
// last as long as the log. Where there is no memory, records are dropped and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "recorder/log/chunk.h"
#include "recorder/log/log_home.h"
#include "recorder/log/name_table.h"
#include "recorder/log/recording_options.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder {

struct ThreadIdentity {
  std::int64_t system_id = 0;    ///< of the operating system
  std::uint64_t logical_id = 0;  ///< torch's own number
  std::string name;
};

/// This thread, as the system knows it.
ThreadIdentity this_thread_identity();

class ThreadLog {
 public:
  /// `began` is an instant near its first record. Without a home, chunks are memory of the process.
  /// `number` is its place among the logs of its recording.
  explicit ThreadLog(
      ThreadIdentity identity,
      std::shared_ptr<const RecordingOptions> options = std::make_shared<const RecordingOptions>(),
      std::uint64_t began = ticks(), std::shared_ptr<LogHome> home = nullptr,
      std::uint32_t number = 0);
  ThreadLog(const ThreadLog&) = delete;
  ThreadLog& operator=(const ThreadLog&) = delete;
  ~ThreadLog();

  const ThreadIdentity& identity() const { return identity_; }
  std::uint32_t number() const { return number_; }
  /// Of its recording.
  const RecordingOptions& options() const { return *options_; }

  // For the recorded thread.

  /// Room for a record of this many words; null if there is no memory. The record belongs to the
  /// log once commit() is called.
  [[gnu::always_inline]] std::uint64_t* room(std::size_t words) {
    std::uint64_t* const at = at_.load(std::memory_order_relaxed);
    if (words <= static_cast<std::size_t>(end_ - at)) [[likely]]
      return at;
    return more_room(words);
  }
  /// Whether room() would give it without allocating.
  [[gnu::always_inline]] bool has_room(std::size_t words) const {
    return words <= static_cast<std::size_t>(end_ - at_.load(std::memory_order_relaxed));
  }
  /// Where the next record begins, unless its room is elsewhere.
  std::uint64_t* next() const { return at_.load(std::memory_order_relaxed); }
  /// The end of the room that next() is in.
  const std::uint64_t* end_of_room() const { return end_; }
  /// `end` is behind the record's last word.
  void commit(std::uint64_t* end) {
    at_.store(end, std::memory_order_release);
    // What another process finds if this one ends here.
    end_for_others_->store(reinterpret_cast<std::uintptr_t>(end), std::memory_order_release);
  }

  NameTable& names() { return names_; }

  /// The key of the last range that began, if nothing ended since.
  void set_last_begin(std::uint64_t key) { last_begin_ = key; }
  std::uint64_t take_last_begin() { return std::exchange(last_begin_, kNoKey); }

  /// An empty list, which keeps its memory from one record to the next.
  std::vector<std::uint64_t>& scratch() {
    scratch_.clear();
    return scratch_;
  }

  /// A record that could not be written, for want of memory.
  void count_lost() {
    lost_.fetch_add(1, std::memory_order_relaxed);
    if (home_ != nullptr) home_->count_lost();
  }

  /// Sums up the memory that the thread allocated and freed.
  void count_memory(std::int64_t bytes) {
    memory_bytes_.store(memory_bytes_.load(std::memory_order_relaxed) + bytes,
                        std::memory_order_relaxed);
  }

  // For any thread.

  const Name& name(NameNumber number) const {
    const auto at = static_cast<std::uint32_t>(number);
    if ((at & kOfProcess) != 0)
      return home_process_names()[static_cast<NameNumber>(at & ~kOfProcess)];
    return names_[number];
  }
  std::uint64_t began() const { return began_; }

  /// What another process wrote, in the order of writing, each with its `committed`. Before any
  /// other call; the log is closed then. The chunks are the home's.
  void adopt(const std::vector<Chunk*>& chunks);

  // For whoever ends the recording.

  /// From now on the log gets no more chunks. A record that is being written meanwhile may be in
  /// the log or not.
  void close() const;

  /// Calls `visit(words, count)` for each chunk, in the order of writing. Closes the log.
  template <typename Visit>
  void for_each_chunk(Visit&& visit) const {
    close();
    for (const Chunk* chunk = first_; chunk != nullptr;) {
      const bool is_last = chunk == newest_;
      visit(chunk->words(), is_last ? committed_ : chunk->committed);
      chunk = is_last ? nullptr : chunk->next;
    }
  }

  /// Frees all but the chunk that the thread may still be writing to. Requires close(), and that
  /// nobody reads.
  void drop_chunks();

  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  std::int64_t memory_bytes() const { return memory_bytes_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t* more_room(std::size_t words);
  const NameTable& home_process_names() const;
  void give(Chunk* chunk);

  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  // The recorded thread's own; at_ is read by whoever closes the log.
  std::atomic<std::uint64_t*> at_ = nullptr;
  std::uint64_t* end_ = nullptr;
  // Beside it: a record touches no other memory of the log.
  std::atomic<std::uint64_t>* end_for_others_ = &no_end_;
  std::atomic<std::uint64_t> no_end_ = 0;
  std::uint64_t last_begin_ = kNoKey;
  NameTable names_;
  std::vector<std::uint64_t> scratch_;

  ThreadIdentity identity_;
  std::shared_ptr<const RecordingOptions> options_;
  std::uint64_t began_;
  std::shared_ptr<LogHome> home_;
  std::uint32_t number_;
  std::atomic<std::uint64_t> lost_ = 0;
  std::atomic<std::size_t> bytes_ = 0;
  std::atomic<std::int64_t> memory_bytes_ = 0;

  mutable std::mutex mutex_;  // what follows
  Chunk* first_ = nullptr;
  Chunk* newest_ = nullptr;
  mutable bool closed_ = false;
  mutable std::size_t committed_ = 0;  // words of the newest chunk when the log was closed
};

}  // namespace tbtrace::recorder
