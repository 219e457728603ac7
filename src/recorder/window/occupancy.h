// How much of a multiprocessor a kernel can fill, worked out from the device and the launch alone.
// Pure functions: nothing is owned, and any thread may call them.
// What no device or launch can be (sizes that are not positive or absurd, compute capabilities
// before 3.0) gives zeros; of blocks and warps an unknown number of multiprocessors gives infinity.
#pragma once

#include <cstdint>
#include <string>

#include "recorder/log/device_trace.h"

namespace tbtrace::recorder {

/// How much shared memory a block may have.
enum class SharedMemoryRule : std::uint8_t {
  /// As Kineto counts: what any kernel may have. One that asked for more, as most matrix products
  /// of Hopper do, gets no blocks.
  kineto,
  /// What the device has for those that ask (cudaFuncAttributeMaxDynamicSharedMemorySize). A
  /// kernel that ran did ask, where it had to, so this one is right.
  opt_in,
};

/// All numbers are of one multiprocessor.
struct Occupancy {
  // Limiting factors; the bits of cudaOccLimitingFactor in NVIDIA's cuda_occupancy.h.
  static constexpr std::uint32_t kWarps = 1;
  static constexpr std::uint32_t kRegisters = 2;
  static constexpr std::uint32_t kSharedMemory = 4;
  static constexpr std::uint32_t kBlocks = 8;
  static constexpr std::uint32_t kBarriers = 16;

  int active_blocks = 0;  ///< at a time; the least of the limits
  int block_limit_warps = 0;
  int block_limit_registers = 0;      ///< INT_MAX: the kernel uses none
  int block_limit_shared_memory = 0;  ///< likewise
  int block_limit_blocks = 0;
  int block_limit_barriers = 0;  ///< INT_MAX: the driver does not tell how many a kernel uses
  int allocated_registers_per_block = 0;
  int allocated_shared_bytes_per_block = 0;
  std::uint32_t limiting_factors = 0;  ///< those that let no more than active_blocks run

  bool operator==(const Occupancy&) const = default;
};

Occupancy find_occupancy(const DeviceProperties& device, const KernelLaunch& launch,
                         SharedMemoryRule rule);

/// In Kineto's words: "WARPS|REGS"; "none".
std::string limiting_factors_text(std::uint32_t factors);

/// The grid's blocks spread evenly over the multiprocessors: Kineto's `blocks per SM`.
float blocks_per_multiprocessor(const DeviceProperties& device, const KernelLaunch& launch);
/// Kineto's `warps per SM`: a part of a warp counts as that part.
float warps_per_multiprocessor(const DeviceProperties& device, const KernelLaunch& launch);

/// Kineto's `est. achieved occupancy %`: the share of the threads that a multiprocessor can hold,
/// for a grid that may be too small to fill it. `occupancy` is this launch's on this device.
int occupancy_percent(const DeviceProperties& device, const KernelLaunch& launch,
                      const Occupancy& occupancy);

}  // namespace tbtrace::recorder
