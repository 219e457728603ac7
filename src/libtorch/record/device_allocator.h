// What the caching allocator of CUDA devices tells of itself, apart from whether LibTorch has one.
// All functions may be called from any thread; whoever hears does not throw.
//
// To add a kind of device: implement DeviceAllocator, as cuda_allocator.cc does.
#pragma once

#include <functional>

#include <tbtrace/status.h>

#include "recorder/log/device_memory.h"

namespace tbtrace::libtorch {

class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;

  /// Whether a device was used, so that there are blocks to hear of.
  virtual bool is_ready() const = 0;
  /// Has each event told from now on, for the life of the process, on the thread that causes it and
  /// with the device's lock held. Requires is_ready(). Refused with the reason by allocators that
  /// do not tell.
  virtual Status attach(std::function<void(const recorder::AllocatorEvent&)> on_event) = 0;
  virtual int devices() const = 0;
  /// Requires is_ready(). Whoever hears may call it for the event's device.
  virtual recorder::AllocatorTotals totals(int device) const = 0;
};

/// Lives as long as the process; null if this LibTorch has none, or one that does not tell.
DeviceAllocator* cuda_allocator();

}  // namespace tbtrace::libtorch
