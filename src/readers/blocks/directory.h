// Where the pieces of a trace start in its text: kept while it is read, so that it can be read
// again in parallel, or in part. Owned by who read; immutable then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "trace/event_batch.h"
#include "trace/issues.h"
#include "wire/json_scanner.h"

namespace tbtrace::readers {

class BlockDirectory {
 public:
  /// A stretch of the array of events that starts between two events and ends where the next one
  /// starts.
  struct Block {
    std::uint64_t offset = 0;       ///< in bytes of the inflated text
    std::uint32_t first_event = 0;  ///< number of its first range in the Trace
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();  ///< of its ranges
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  };

  /// Rows that start at `offset` count.
  void add(std::uint64_t offset, std::size_t first_event, const EventBatch& rows) {
    if (blocks_.empty() || offset - blocks_.back().offset >= kLeast) {
      blocks_.push_back({offset, static_cast<std::uint32_t>(first_event)});
    }
    Block& block = blocks_.back();
    block.first_ns = std::min(block.first_ns, rows.first_ns);
    block.last_ns = std::max(block.last_ns, rows.last_ns);
  }

  /// The events end at `offset`; so far, that is.
  void end(std::uint64_t offset) { end_ = offset; }

  /// Nothing that was added counts: another array of events replaces this one.
  void restart() {
    blocks_.clear();
    ++replaced_arrays_;
  }

  /// An event was not JSON, or not read as JSON: what it is taken for depends on what stands around
  /// it, so that blocks cannot be read alone.
  void note_damage() { is_sound_ = false; }

  /// What is around the events is not JSON: a byte order mark, an array without its end, a value
  /// such as `NaN`.
  void note_lenience() { is_strict_ = false; }
  bool is_strict() const { return is_strict_; }

  const std::vector<Block>& blocks() const { return blocks_; }
  std::uint64_t end_offset() const { return end_; }
  bool is_sound() const { return is_sound_; }
  int replaced_arrays() const { return replaced_arrays_; }

  wire::Quoting quoting = wire::Quoting::escaped;
  /// What was asked for: which events are damaged depends on it.
  ArgumentSet arguments;
  /// No event was dropped for its time.
  bool times_are_sound = false;
  /// What is not in the Trace.
  Losses losses;
  /// So much was read at once: a damaged file must be read in the same pieces again.
  std::size_t block_bytes = 0;

 private:
  static constexpr std::uint64_t kLeast = std::uint64_t{128} << 10;

  std::vector<Block> blocks_;
  std::uint64_t end_ = 0;
  bool is_sound_ = true;
  bool is_strict_ = true;
  int replaced_arrays_ = 0;
};

}  // namespace tbtrace::readers
