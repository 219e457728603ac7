// A caching allocator of devices that are not there. It stands for LibTorch's own in programs that
// link it: libtorch/record/cuda_allocator.cc is for LibTorch with CUDA.
// For any thread. Lives as long as the process.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "libtorch/record/device_allocator.h"

namespace tbtrace::testing {

class ScriptedAllocator final : public libtorch::DeviceAllocator {
 public:
  static ScriptedAllocator& instance();

  /// Devices are used from now on.
  void make_ready() { is_ready_ = true; }
  /// The next attach() is refused with these words; without words it is not.
  void refuse(std::string words) { refusal_ = std::move(words); }
  /// There is no memory for the totals, which are asked for next.
  void fail_totals(bool fail) { fails_ = fail; }

  /// A block in whole 512 bytes, and `more`; gives its address.
  std::uint64_t allocate(int device, std::int64_t bytes, std::int64_t more = 0);
  void free(int device, std::uint64_t address);

  bool is_ready() const override { return is_ready_; }
  Status attach(std::function<void(const recorder::AllocatorEvent&)> heard) override;
  int devices() const override { return 2; }
  recorder::AllocatorTotals totals(int device) const override;

 private:
  ScriptedAllocator() = default;
  void tell(recorder::AllocatorEvent::Kind kind, int device, std::uint64_t address,
            std::int64_t bytes);

  struct Block {
    std::int64_t requested;
    std::int64_t bytes;
  };

  mutable std::recursive_mutex mutex_;  // what follows
  std::map<int, recorder::AllocatorTotals> totals_;
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t next_ = 0x7e00'0000'0000;
  std::function<void(const recorder::AllocatorEvent&)> heard_;
  bool is_ready_ = false;
  bool fails_ = false;
  std::string refusal_;
};

}  // namespace tbtrace::testing
