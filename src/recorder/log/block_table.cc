#include "recorder/log/block_table.h"

#include <mutex>
#include <new>
#include <unordered_map>

#include "recorder/process/never_destroyed.h"
#include "recorder/process/process.h"

namespace tbtrace::recorder::block_detail {

thread_local constinit Places* this_thread = nullptr;

namespace {

/// How many threads have places of their own.
constexpr std::size_t kMostThreads = 256;

struct Table {
  std::array<std::atomic<Places*>, kMostThreads> places;  // filled from the start, never emptied
  std::array<bool, kMostThreads> in_use = {};
  std::unordered_map<std::uintptr_t, WatchedBlock> others;
  std::mutex mutex;  // of in_use, others, and of filling places
};

Table& table();

constexpr ProcessPart kPart = {.order = PartOrder::blocks,
                               .lock = [] { table().mutex.lock(); },
                               .unlock = [] { table().mutex.unlock(); }};
const AddedPart kAdded(kPart);

Table& table() {
  static NeverDestroyed<Table> one;
  return *one;
}

/// Gives the thread's places to the next thread, with the blocks that are still in them.
struct PlacesOwner {
  std::size_t number = kMostThreads;
  bool ended = false;

  ~PlacesOwner() {
    ended = true;
    this_thread = nullptr;
    if (number == kMostThreads) return;
    const std::lock_guard lock(table().mutex);
    table().in_use[number] = false;
  }
};
thread_local PlacesOwner places_owner;

/// Requires the lock.
void take_places(Table& all) {
  if (places_owner.ended || places_owner.number != kMostThreads) return;
  for (std::size_t number = 0; number < kMostThreads; ++number) {
    if (all.in_use[number]) continue;
    Places* places = all.places[number].load();
    if (places == nullptr) {
      places = new Places;
      all.places[number].store(places, std::memory_order_release);
    }
    all.in_use[number] = true;
    places_owner.number = number;
    this_thread = places;
    return;
  }
}

}  // namespace

bool add_elsewhere(std::uintptr_t address, const WatchedBlock& block) noexcept {
  try {
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    if (this_thread == nullptr) take_places(all);
    all.others.insert_or_assign(address, block);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<WatchedBlock> take_elsewhere(std::uintptr_t address) noexcept {
  Table& all = table();
  for (const std::atomic<Places*>& entry : all.places) {
    Places* const places = entry.load(std::memory_order_acquire);
    if (places == nullptr) break;
    if (const auto block = take_from(*places, address)) return block;
  }
  const std::lock_guard lock(all.mutex);
  const auto found = all.others.find(address);
  if (found == all.others.end()) return std::nullopt;
  const WatchedBlock block = found->second;
  all.others.erase(found);
  return block;
}

}  // namespace tbtrace::recorder::block_detail
