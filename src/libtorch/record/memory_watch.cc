#include "libtorch/record/memory_watch.h"

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>

#include "libtorch/record/log_of_this_thread.h"
#include "libtorch/record/torch_version.h"
#include "recorder/log/active.h"
#include "recorder/log/block_table.h"
#include "recorder/log/record.h"
#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::libtorch {

namespace {

struct Watcher {
  std::atomic<ObserverHandle> observer = 0;
  std::atomic<bool> all_threads = false;
};

std::atomic<std::uint32_t> watching = 0;  // a bit a slot
Watcher watchers[recorder::kSlots];

void record_memory(std::uint64_t ticks, std::uintptr_t address, std::int64_t bytes) noexcept {
  bool counted = false;
  for (std::uint32_t slots = watching.load(std::memory_order_acquire); slots != 0;
       slots &= slots - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(slots));
    const Watcher& watcher = watchers[slot];
    if (!watcher.all_threads.load(std::memory_order_relaxed) &&
        !observes_this_thread(watcher.observer.load(std::memory_order_relaxed))) {
      continue;
    }
    recorder::ThreadLog* const log = log_of_this_thread(slot);
    if (log == nullptr) continue;
    write(*log, recorder::MemoryEvent{.ticks = ticks, .address = address, .bytes = bytes});
    if (!counted) log->count_memory(bytes);
    counted = true;
  }
  if (!counted) recorder::watched_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

class WatchingAllocator final : public c10::Allocator {
 public:
  constexpr WatchingAllocator() = default;

#if TBTRACE_TORCH_AT_LEAST(2, 0)
  c10::DataPtr allocate(std::size_t bytes) override {
    return watched(below()->allocate(bytes), bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    below()->copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override {
    return watched(below()->allocate(bytes), bytes);
  }
#endif

  /// Also frees, by raw_deallocate(), blocks of the time before this allocator.
  c10::DeleterFnPtr raw_deleter() const override { return free_block; }

  c10::Allocator* below() const { return below_.load(std::memory_order_acquire); }
  void put_above(c10::Allocator* below) { below_.store(below, std::memory_order_release); }

 private:
  static c10::DataPtr watched(c10::DataPtr block, std::size_t bytes) {
    void* const data = block.get();
    // A context of its own says more than an address: such blocks are let alone.
    if (bytes == 0 || data == nullptr || data != block.get_context()) return block;
    // The program's allocator below this one got it from another of these.
    if (block.get_deleter() == free_block) return block;
    const std::uint64_t ticks = recorder::ticks();  // first: it takes its time beside the rest
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    if (!recorder::add_block(address, {bytes, block.get_deleter()})) return block;
    const c10::Device device = block.device();
    (void)block.release_context();
    record_memory(ticks, address, static_cast<std::int64_t>(bytes));
    return {data, data, free_block, device};
  }

  static void free_block(void* data);

  std::atomic<c10::Allocator*> below_ = nullptr;
};

/// Made before the program runs, since c10 hands the pointer to other threads without saying that
/// what it points to is ready.
constinit recorder::NeverDestroyed<WatchingAllocator> first;

std::mutex installing;
std::atomic<WatchingAllocator*> installed = nullptr;
int users = 0;

/// Requires the lock. One that was installed stays what it is: others may have put theirs above it.
WatchingAllocator* allocator_above(c10::Allocator* now) {
  WatchingAllocator* const last = installed.load();
  if (last != nullptr && (now == last || now == last->below())) return last;
  WatchingAllocator* const next = last == nullptr ? &*first : new WatchingAllocator;
  next->put_above(now);
  installed.store(next);
  return next;
}

void WatchingAllocator::free_block(void* data) {
  if (data == nullptr) return;  // raw_deallocate() of oneDNN's
  const std::uint64_t ticks = recorder::ticks();
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (const auto block = recorder::take_block(address)) {
    record_memory(ticks, address, -static_cast<std::int64_t>(block->bytes));
    block->free(data);
    return;
  }
  // The allocator below may hand it on to the first of these.
  static thread_local constinit bool is_handing_on = false;
  if (is_handing_on) {
    first->below()->raw_deleter()(data);
    return;
  }
  is_handing_on = true;
  installed.load()->below()->raw_deleter()(data);
  is_handing_on = false;
}

/// c10 takes an allocator only with the priority of the one before, or a higher one, and does not
/// say which that was. The lowest one that it takes, so that the program may set its own later.
void set_allocator(c10::Allocator* allocator) {
  for (int priority = 0; priority <= 255 && c10::GetCPUAllocator() != allocator; ++priority) {
    c10::SetCPUAllocator(allocator, static_cast<std::uint8_t>(priority));
  }
}

/// A forked child has its parent's watches, and nobody to end them.
constexpr recorder::ProcessPart kMemoryPart = {.order = recorder::PartOrder::memory,
                                               .lock = [] { installing.lock(); },
                                               .unlock = [] { installing.unlock(); },
                                               .begin_anew =
                                                   [] {
                                                     watching.store(0);
                                                     users = 0;
                                                   }};
const recorder::AddedPart kMemoryAdded(kMemoryPart);

}  // namespace

void watch_memory(std::size_t slot, ObserverHandle observer, bool all_threads) {
  const std::lock_guard lock(installing);
  watchers[slot].observer.store(observer);
  watchers[slot].all_threads.store(all_threads);
  if (users++ == 0) set_allocator(allocator_above(c10::GetCPUAllocator()));
  watching.fetch_or(std::uint32_t{1} << slot, std::memory_order_release);
}

void stop_watching_memory(std::size_t slot) {
  const std::lock_guard lock(installing);
  watching.fetch_and(~(std::uint32_t{1} << slot), std::memory_order_release);
  if (--users == 0 && c10::GetCPUAllocator() == installed.load()) {
    set_allocator(installed.load()->below());
  }
}

}  // namespace tbtrace::libtorch
