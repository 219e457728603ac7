#include "libtorch/record/device_memory_watch.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <unistd.h>

#include "libtorch/record/device_allocator.h"
#include "recorder/log/active.h"
#include "recorder/process/never_destroyed.h"

namespace tbtrace::libtorch {

namespace {

using recorder::AllocatorTotals;
using recorder::DeviceMemory;

struct Watch {
  bool was_ready = false;  // the allocator, when the watch was to begin; for the recording thread
  std::mutex mutex;  // what follows; taken with a device's lock held, never the other way round
  bool is_on = false;
  bool all_threads = false;
  ObserverHandle observer = 0;
  DeviceMemory memory;
};

std::atomic<std::uint32_t> recording_slots = 0;  // a bit each

std::array<Watch, recorder::kSlots>& watches() {
  static recorder::NeverDestroyed<std::array<Watch, recorder::kSlots>> all;
  return *all;
}

/// Nothing if there is no memory for them.
std::optional<AllocatorTotals> totals_of(const DeviceAllocator& allocator, int device) {
  try {
    return allocator.totals(device);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

struct Attachment {
  std::mutex mutex;
  /// That asked. A fork of it may not, whose locks other threads may have had, this one's, too.
  std::atomic<pid_t> process = 0;
  Status outcome;  // under the lock
};
Attachment& attachment() {
  static recorder::NeverDestroyed<Attachment> one;
  return *one;
}

bool is_fork() {
  const pid_t asked = attachment().process.load();
  return asked != 0 && asked != ::getpid();
}

void record_allocation(const DeviceAllocator& allocator,
                       const recorder::AllocatorEvent& event) noexcept {
  std::uint32_t slots = recording_slots.load(std::memory_order_acquire);
  if (slots == 0 || is_fork()) return;
  const std::uint64_t ticks = recorder::ticks();
  const std::optional<AllocatorTotals> totals = totals_of(allocator, event.device);
  for (; slots != 0; slots &= slots - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(slots));
    Watch& watch = watches()[slot];
    const std::lock_guard lock(watch.mutex);
    if (!watch.is_on) continue;
    try {
      const bool is_wanted = watch.all_threads || observes_this_thread(watch.observer);
      recorder::ThreadLog* const log = is_wanted ? recorder::this_thread_log(slot) : nullptr;
      if (totals) {
        watch.memory.add(event, *totals, ticks, log);
        continue;
      }
    } catch (const std::exception&) {  // no memory for a log
    }
    watch.memory.lose(event.device);
  }
}

/// Those for which there is memory.
std::map<int, AllocatorTotals> totals_now(const DeviceAllocator& allocator) noexcept {
  std::map<int, AllocatorTotals> totals;
  try {
    for (int device = 0; device < allocator.devices(); ++device) {
      totals[device] = allocator.totals(device);
    }
  } catch (const std::exception&) {
  }
  return totals;
}

Status attach(DeviceAllocator& allocator) {
  const std::lock_guard lock(attachment().mutex);
  if (attachment().process == 0) {
    attachment().process = ::getpid();
    attachment().outcome = allocator.attach([&allocator](const recorder::AllocatorEvent& event) {
      record_allocation(allocator, event);
    });
  }
  return attachment().outcome;
}

}  // namespace

Status watch_device_memory(std::size_t slot, ObserverHandle observer, bool all_threads,
                           std::shared_ptr<recorder::DeviceMemoryJournal> journal) {
  DeviceAllocator* const allocator = cuda_allocator();
  if (allocator == nullptr || is_fork()) return {};
  Watch& watch = watches()[slot];
  watch.was_ready = allocator->is_ready();
  if (!watch.was_ready) return {};
  if (Status status = attach(*allocator); !status.ok()) return status;
  {
    const std::lock_guard lock(watch.mutex);
    watch.is_on = true;
    watch.observer = observer;
    watch.all_threads = all_threads;
    watch.memory = DeviceMemory(std::move(journal));
  }
  recording_slots.fetch_or(std::uint32_t{1} << slot, std::memory_order_release);
  const auto totals = totals_now(*allocator);
  const std::lock_guard lock(watch.mutex);
  for (const auto& [device, bytes] : totals) watch.memory.start(device, bytes);
  return {};
}

DeviceMemory stop_watching_device_memory(std::size_t slot) {
  DeviceAllocator* const allocator = cuda_allocator();
  if (allocator == nullptr || is_fork()) return {};
  Watch& watch = watches()[slot];
  const std::uint32_t bit = std::uint32_t{1} << slot;
  if ((recording_slots.load() & bit) == 0) {
    DeviceMemory none;
    if (!watch.was_ready && allocator->is_ready()) {
      none.problem =
          "the memory of CUDA devices is not in this recording, since they were used for the first "
          "time within it; use a device before it begins";
    }
    return none;
  }
  {
    const std::lock_guard lock(watch.mutex);
    watch.memory.close();
  }
  const auto totals = totals_now(*allocator);
  recording_slots.fetch_and(~bit, std::memory_order_release);
  const std::lock_guard lock(watch.mutex);
  watch.is_on = false;
  for (const auto& [device, bytes] : totals) watch.memory.end(device, bytes);
  return std::exchange(watch.memory, {});
}

}  // namespace tbtrace::libtorch
