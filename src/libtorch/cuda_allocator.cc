// For LibTorch with CUDA, from 2.2 on.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "libtorch/device_allocator.h"

namespace tbtrace::libtorch {

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;
using caching::TraceEntry;
using recorder::AllocatorEvent;

AllocatorEvent::Kind kind_of(const TraceEntry& entry) {
  using enum AllocatorEvent::Kind;
  switch (entry.action_) {
    case TraceEntry::ALLOC:
      return allocate;
    case TraceEntry::FREE_REQUESTED:
      return free;
    case TraceEntry::OOM:
      return out_of_memory;
    default:
      return other;
  }
}

class CudaAllocator final : public DeviceAllocator {
 public:
  bool is_ready() const override {
    caching::CUDAAllocator* const allocator = caching::get();
    return allocator != nullptr && allocator->initialized();
  }

  Status attach(std::function<void(const AllocatorEvent&)> heard) override {
    try {
      caching::get()->attachAllocatorTraceTracker(
          [heard = std::move(heard)](const TraceEntry& entry) {
            heard({.kind = kind_of(entry),
                   .device = static_cast<int>(entry.device_),
                   .address = static_cast<std::uint64_t>(entry.addr_),
                   .requested = static_cast<std::int64_t>(entry.size_)});
          });
    } catch (const std::exception&) {
      return {StatusCode::invalid_argument,
              "the memory of CUDA devices is not recorded, since LibTorch's allocator '" +
                  caching::get()->name() + "' does not tell of its blocks; the native one does"};
    }
    return {};
  }

  int devices() const override { return c10::cuda::device_count(); }

  /// The allocator's lock may be taken again by the thread that has it.
  recorder::AllocatorTotals totals(int device) const override {
    const auto stats = caching::get()->getDeviceStats(static_cast<c10::DeviceIndex>(device));
    constexpr std::size_t kAllPools = 0;  // StatType::AGGREGATE, which moved between namespaces
    return {.allocated = stats.allocated_bytes[kAllPools].current,
            .active = stats.active_bytes[kAllPools].current,
            .reserved = stats.reserved_bytes[kAllPools].current};
  }
};

}  // namespace

DeviceAllocator* cuda_allocator() {
  static CudaAllocator allocator;
  return &allocator;
}

}  // namespace tbtrace::libtorch
