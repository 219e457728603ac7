// How much of a multiprocessor a kernel can fill, worked out from the device and the launch alone.
// Pure functions: nothing is owned, and any thread may call them.
// What no device or launch can be (sizes that are not positive or absurd, compute capabilities
// before 3.0) gives zeros; of blocks and warps an unknown number of multiprocessors gives infinity.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tbtrace::analyses {

/// What a device has, as its driver tells. Members are named after CUDA's attributes.
struct DeviceLimits {
  int compute_major = 0;
  int compute_minor = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;  ///< 0: as the compute capability says
  int registers_per_block = 0;
  int registers_per_multiprocessor = 0;
  int warp_size = 0;
  int shared_bytes_per_block = 0;
  int shared_bytes_per_block_optin = 0;
  int shared_bytes_per_multiprocessor = 0;
  int reserved_shared_bytes_per_block = 0;
  int multiprocessors = 0;
};

/// What a launch asks for.
struct LaunchSize {
  std::array<std::int32_t, 3> grid = {};
  std::array<std::int32_t, 3> block = {};
  std::uint32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
};

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

Occupancy find_occupancy(const DeviceLimits& device, const LaunchSize& launch,
                         SharedMemoryRule rule);

/// In Kineto's words: "WARPS|REGS"; "none".
std::string limiting_factors_text(std::uint32_t factors);

/// The grid's blocks spread evenly over the multiprocessors: Kineto's `blocks per SM`.
float blocks_per_multiprocessor(const DeviceLimits& device, const LaunchSize& launch);
/// Kineto's `warps per SM`: a part of a warp counts as that part.
float warps_per_multiprocessor(const DeviceLimits& device, const LaunchSize& launch);

/// Kineto's `est. achieved occupancy %`: the share of the threads that a multiprocessor can hold,
/// for a grid that may be too small to fill it. `occupancy` is this launch's on this device.
int occupancy_percent(const DeviceLimits& device, const LaunchSize& launch,
                      const Occupancy& occupancy);

}  // namespace tbtrace::analyses
