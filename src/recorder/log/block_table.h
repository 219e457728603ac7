// Blocks of memory that are watched, by their address: how large they are and how to free them.
// There is one table a process. Any number of threads at once; of one address there is one block at
// a time, which one thread frees. Most blocks need no lock and no atomic change: a place that is
// empty is filled by its thread alone, one that is full is emptied by whoever frees the block.
// Without memory a block is not watched.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tbtrace::recorder {

struct WatchedBlock {
  using Free = void (*)(void*);

  std::size_t bytes = 0;
  Free free = nullptr;
};

namespace block_detail {

struct Place {
  std::atomic<std::uintptr_t> address = 0;  ///< 0: empty
  WatchedBlock block;
};

/// The blocks that one thread allocated, as far as there are places for them.
struct Places {
  static constexpr int kBits = 11;

  /// An address has two places.
  Place* at(std::uintptr_t address) {
    return &places[address * std::uintptr_t{0x9e3779b97f4a7c15} >> (64 - kBits)];
  }

  std::array<Place, (std::size_t{1} << kBits) + 1> places;
};

extern thread_local constinit Places* this_thread;

bool add_elsewhere(std::uintptr_t address, const WatchedBlock& block) noexcept;
std::optional<WatchedBlock> take_elsewhere(std::uintptr_t address) noexcept;

inline std::optional<WatchedBlock> take_from(Places& places, std::uintptr_t address) {
  Place* const two = places.at(address);
  for (Place* place = two; place != two + 2; ++place) {
    if (place->address.load(std::memory_order_acquire) != address) continue;
    const WatchedBlock block = place->block;
    place->address.store(0, std::memory_order_release);
    return block;
  }
  return std::nullopt;
}

}  // namespace block_detail

/// `address` is not 0 and not watched yet. False if there is no memory.
inline bool add_block(std::uintptr_t address, const WatchedBlock& block) noexcept {
  using namespace block_detail;
  if (this_thread != nullptr) [[likely]] {
    Place* const two = this_thread->at(address);
    for (Place* place = two; place != two + 2; ++place) {
      if (place->address.load(std::memory_order_acquire) != 0) continue;
      place->block = block;
      place->address.store(address, std::memory_order_release);
      return true;
    }
  }
  return add_elsewhere(address, block);
}

/// Removes the block. `address` is not 0.
inline std::optional<WatchedBlock> take_block(std::uintptr_t address) noexcept {
  using namespace block_detail;
  if (this_thread != nullptr) [[likely]] {
    if (const auto block = take_from(*this_thread, address)) return block;
  }
  return take_elsewhere(address);
}

}  // namespace tbtrace::recorder
