// Memory events of devices, from what their caching allocator tells while a recording goes on.
// Owns its events. One thread at a time adds, whoever it is; then immutable, so any may read it.
// Numbers are the allocator's: nothing is checked.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "recorder/log/device_journal.h"
#include "recorder/log/record.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::recorder {

/// Bytes of one device.
struct AllocatorTotals {
  std::int64_t allocated = 0;  ///< of blocks that are given out
  std::int64_t active = 0;     ///< and of those that were given back, but are still in use
  std::int64_t reserved = 0;   ///< that the allocator has from the driver
};

/// What an allocator tells, with its totals at that time: a block that is given out is not counted
/// yet; one that is given back is still active, and no longer allocated. LibTorch's does it in this
/// order since 2.2 (`alloc_found_block` and `free` in c10/cuda/CUDACachingAllocator.cpp).
struct AllocatorEvent {
  enum class Kind : std::uint8_t { allocate, free, out_of_memory, other };

  Kind kind = Kind::other;
  int device = 0;
  std::uint64_t address = 0;
  std::int64_t requested = 0;  ///< bytes that were asked for; a block may be larger
};

struct DeviceMemoryEvent {
  MemoryEvent event = {};  ///< out of memory: address 0, and the bytes that there were none for
  int device = 0;
  AllocatorTotals totals = {};  ///< after the event
  const ThreadLog* log = nullptr;
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// With a journal, all that it hears is kept there, too.
  explicit DeviceMemory(std::shared_ptr<DeviceMemoryJournal> journal);

  /// What there is on a device before its first event; without meaning after that.
  void start(int device, const AllocatorTotals& totals);
  /// Events of a device come in their order. Without a log, the thread is not recorded, and only
  /// the totals count. Without memory this is lose(). A free without a start before it is the
  /// start.
  void add(const AllocatorEvent& told, const AllocatorTotals& totals, std::uint64_t ticks,
           const ThreadLog* log) noexcept;
  /// An event of the device that there was no memory for.
  void lose(int device) noexcept;
  /// Something is not known of the device: its next event has nothing to compare with.
  void skip(int device) noexcept;
  /// What is told from now on is only looked at for the size of the last block.
  void close();
  /// What there is on a device after its last event; without meaning where something was told since
  /// close(). Without either, the last block is taken to be as large as was asked for.
  void end(int device, const AllocatorTotals& totals);

  /// Blocks are as large as the allocator made them, as torch has it, rather than as was asked for.
  const std::deque<DeviceMemoryEvent>& events() const { return events_; }
  std::uint64_t lost() const { return lost_; }

  /// Why there is nothing; empty: nothing is missing.
  std::string problem = {};

 private:
  struct Device {
    std::optional<std::int64_t> active_before = std::nullopt;  // a block that is not in it yet
    DeviceMemoryEvent* newest = nullptr;  // that block, if its thread is recorded
    std::optional<std::int64_t> allocated =
        std::nullopt;  // after the last event, unless it is lost
  };

  static void settle(Device& device, const AllocatorTotals& totals);

  std::shared_ptr<DeviceMemoryJournal> journal_;
  std::deque<DeviceMemoryEvent> events_;
  std::map<int, Device> devices_;
  bool is_closed_ = false;
  std::uint64_t lost_ = 0;
};

}  // namespace tbtrace::recorder
