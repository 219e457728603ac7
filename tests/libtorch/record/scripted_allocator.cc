#include "libtorch/record/scripted_allocator.h"

#include <algorithm>
#include <new>
#include <utility>

namespace tbtrace::testing {

using Kind = recorder::AllocatorEvent::Kind;

ScriptedAllocator& ScriptedAllocator::instance() {
  static auto* const allocator = new ScriptedAllocator;
  return *allocator;
}

Status ScriptedAllocator::attach(std::function<void(const recorder::AllocatorEvent&)> heard) {
  const std::lock_guard lock(mutex_);
  if (!refusal_.empty()) return {StatusCode::invalid_argument, refusal_};
  heard_ = std::move(heard);
  return {};
}

recorder::AllocatorTotals ScriptedAllocator::totals(int device) const {
  const std::lock_guard lock(mutex_);
  if (fails_) throw std::bad_alloc();
  const auto totals = totals_.find(device);
  return totals == totals_.end() ? recorder::AllocatorTotals{} : totals->second;
}

void ScriptedAllocator::tell(Kind kind, int device, std::uint64_t address, std::int64_t bytes) {
  if (heard_) heard_({.kind = kind, .device = device, .address = address, .requested = bytes});
}

// As LibTorch's: what is given out is told before it is counted, what is given back in between.

std::uint64_t ScriptedAllocator::allocate(int device, std::int64_t bytes, std::int64_t more) {
  const std::lock_guard lock(mutex_);
  const std::int64_t block = (bytes + 511) / 512 * 512 + more;
  const std::uint64_t address = next_;
  next_ += static_cast<std::uint64_t>(block);
  recorder::AllocatorTotals& totals = totals_[device];
  totals.reserved = std::max(totals.reserved, totals.allocated + block);
  tell(Kind::allocate, device, address, bytes);
  totals.allocated += block;
  totals.active += block;
  blocks_[address] = {bytes, block};
  return address;
}

void ScriptedAllocator::free(int device, std::uint64_t address) {
  const std::lock_guard lock(mutex_);
  const Block block = blocks_.extract(address).mapped();
  recorder::AllocatorTotals& totals = totals_[device];
  totals.allocated -= block.bytes;
  tell(Kind::free, device, address, block.requested);
  tell(Kind::other, device, address, block.requested);
  totals.active -= block.bytes;
}

}  // namespace tbtrace::testing

namespace tbtrace::libtorch {

DeviceAllocator* cuda_allocator() { return &testing::ScriptedAllocator::instance(); }

}  // namespace tbtrace::libtorch
