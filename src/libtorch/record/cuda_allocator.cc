// For LibTorch with CUDA; that before 2.2 does not tell of its blocks.
#include "libtorch/record/device_allocator.h"
#include "libtorch/record/torch_version.h"
#include "recorder/process/never_destroyed.h"

#if TBTRACE_TORCH_AT_LEAST(2, 2)
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace tbtrace::libtorch {

namespace {

namespace caching = c10::cuda::CUDACachingAllocator;
using caching::TraceEntry;
using recorder::AllocatorEvent;

/// Nothing of what is not about a block; snapshots name another device than theirs.
std::optional<AllocatorEvent::Kind> kind_of(const TraceEntry& entry) {
  using enum AllocatorEvent::Kind;
  switch (entry.action_) {
    case TraceEntry::ALLOC:
      return allocate;
    case TraceEntry::FREE_REQUESTED:
      return free;
    case TraceEntry::FREE_COMPLETED:
      return other;
    case TraceEntry::OOM:
      return out_of_memory;
    default:
      return std::nullopt;
  }
}

/// Waits for another thread that does it. Does nothing where it was done.
template <typename Context>
void initialize_cuda(Context& context) {
  if constexpr (requires { context.lazyInitDevice(c10::DeviceType::CUDA); }) {
    context.lazyInitDevice(c10::DeviceType::CUDA);
  } else {
    context.lazyInitCUDA();
  }
}

class CudaAllocator final : public DeviceAllocator {
 public:
  bool is_ready() const override {
    caching::CUDAAllocator* const allocator = caching::get();
    if (allocator == nullptr || !allocator->initialized()) return false;
    // It says so before its devices are there.
    try {
      initialize_cuda(at::globalContext());
    } catch (const std::exception&) {
      return false;  // as whoever uses CUDA will be told
    }
    return true;
  }

  Status attach(std::function<void(const AllocatorEvent&)> on_event) override {
    try {
      caching::get()->attachAllocatorTraceTracker(
          [on_event = std::move(on_event)](const TraceEntry& entry) {
            const auto kind = kind_of(entry);
            if (!kind) return;
            on_event({.kind = *kind,
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
  static recorder::NeverDestroyed<CudaAllocator> allocator;
  return &*allocator;
}

}  // namespace tbtrace::libtorch

#else

namespace tbtrace::libtorch {
DeviceAllocator* cuda_allocator() { return nullptr; }
}  // namespace tbtrace::libtorch

#endif
