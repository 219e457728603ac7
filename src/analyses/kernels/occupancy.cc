#include "analyses/kernels/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace tbtrace::analyses {

namespace {

constexpr int kNoLimit = std::numeric_limits<int>::max();

// A warp gets its registers in pieces of this size (cuda_occupancy.h of CUDA 13.0, which is also
// the source of all rules below that name no other).
constexpr std::int64_t kRegisterPiece = 256;

// CUPTI's kernel records have 16 bits for them.
constexpr std::uint32_t kMostRegisters = 0xffff;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
std::int64_t round_up(std::int64_t value, std::int64_t to) { return divide_up(value, to) * to; }
int at_most_int(std::int64_t value) {
  return static_cast<int>(std::min<std::int64_t>(value, kNoLimit));
}

/// Threads of a block; 0: such a block cannot be.
int block_threads(const LaunchSize& launch) {
  std::int64_t threads = 1;
  for (const std::int32_t size : launch.block) {
    if (size <= 0) return 0;
    threads *= size;
    if (threads > kNoLimit) return 0;
  }
  return static_cast<int>(threads);
}

bool is_sound(const DeviceLimits& device) {
  return device.compute_major >= 3 && device.max_threads_per_block > 0 &&
         device.max_threads_per_multiprocessor > 0 && device.registers_per_block > 0 &&
         device.registers_per_multiprocessor > 0 && device.warp_size > 0 &&
         device.shared_bytes_per_block > 0 && device.shared_bytes_per_multiprocessor > 0 &&
         device.reserved_shared_bytes_per_block >= 0 && device.multiprocessors > 0;
}

bool is_sound(const LaunchSize& launch) {
  return block_threads(launch) > 0 && launch.registers_per_thread <= kMostRegisters &&
         launch.static_shared_bytes >= 0 && launch.dynamic_shared_bytes >= 0;
}

/// Blocks that a multiprocessor keeps track of. Drivers before CUDA 11 do not tell; the numbers are
/// also those of the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
int most_blocks(const DeviceLimits& device) {
  if (device.max_blocks_per_multiprocessor > 0) return device.max_blocks_per_multiprocessor;
  const int minor = device.compute_minor;
  switch (device.compute_major) {
    case 3:
      return 16;
    case 5:
    case 6:
    case 9:
      return 32;
    case 7:
      return minor == 5 ? 16 : 32;
    case 8:
      return minor == 0 ? 32 : minor == 9 ? 24 : 16;
    case 10:
      return minor == 1 ? 24 : 32;
    case 11:
      return minor == 0 ? 24 : 32;
    default:
      return 24;
  }
}

/// What the registers allow where each of `partitions` has its part of them and runs its warps.
std::int64_t register_limit(const DeviceLimits& device, std::int64_t registers_per_warp,
                            std::int64_t warps_per_block, std::int64_t partitions) {
  // The device itself checks a launch as if all partitions ran equally many warps of the block.
  if (registers_per_warp * round_up(warps_per_block, partitions) > device.registers_per_block) {
    return 0;
  }
  const std::int64_t warps =
      device.registers_per_multiprocessor / partitions / registers_per_warp * partitions;
  return warps / warps_per_block;
}

std::int64_t register_limit(const DeviceLimits& device, std::uint32_t registers_per_thread,
                            std::int64_t registers_per_warp, std::int64_t warps_per_block) {
  if (registers_per_thread > (device.compute_major < 7 ? 255 : 256)) return 0;
  if (registers_per_thread == 0) return kNoLimit;
  const std::int64_t limit = register_limit(device, registers_per_warp, warps_per_block, 4);
  // GP100 has two partitions, but runs nothing that other Pascals with their four cannot.
  const bool is_gp100 = device.compute_major == 6 && device.compute_minor == 0;
  if (limit == 0 || !is_gp100) return limit;
  return register_limit(device, registers_per_warp, warps_per_block, 2);
}

/// `bytes` are what a block gets, with the driver's own.
std::int64_t shared_memory_limit(const DeviceLimits& device, std::int64_t bytes,
                                 SharedMemoryRule rule) {
  std::int64_t most = device.shared_bytes_per_block;
  if (rule == SharedMemoryRule::opt_in) {
    most = std::max<std::int64_t>(most, device.shared_bytes_per_block_optin);
  }
  if (bytes > most + device.reserved_shared_bytes_per_block) return 0;
  // Where the L1 cache and shared memory are one, a driver that was told nothing counts with as
  // much shared memory as there can be.
  return bytes == 0 ? kNoLimit : device.shared_bytes_per_multiprocessor / bytes;
}

}  // namespace

Occupancy find_occupancy(const DeviceLimits& device, const LaunchSize& launch,
                         SharedMemoryRule rule) {
  if (!is_sound(device) || !is_sound(launch)) return {};
  const int threads = block_threads(launch);
  const std::int64_t warps = divide_up(threads, device.warp_size);
  const std::int64_t registers_per_warp =
      round_up(std::int64_t{launch.registers_per_thread} * device.warp_size, kRegisterPiece);
  const std::int64_t shared_bytes =
      round_up(std::int64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes +
                   device.reserved_shared_bytes_per_block,
               device.compute_major < 8 ? 256 : 128);

  Occupancy result;
  result.allocated_registers_per_block = at_most_int(registers_per_warp * warps);
  result.allocated_shared_bytes_per_block = at_most_int(shared_bytes);
  if (threads <= device.max_threads_per_block) {
    result.block_limit_warps =
        static_cast<int>(device.max_threads_per_multiprocessor / device.warp_size / warps);
  }
  result.block_limit_registers = static_cast<int>(
      register_limit(device, launch.registers_per_thread, registers_per_warp, warps));
  result.block_limit_shared_memory =
      static_cast<int>(shared_memory_limit(device, shared_bytes, rule));
  result.block_limit_blocks = most_blocks(device);
  result.block_limit_barriers = kNoLimit;

  // In the order of the bits.
  const std::array limits = {result.block_limit_warps, result.block_limit_registers,
                             result.block_limit_shared_memory, result.block_limit_blocks,
                             result.block_limit_barriers};
  result.active_blocks = *std::min_element(limits.begin(), limits.end());
  for (std::size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] == result.active_blocks) result.limiting_factors |= 1U << i;
  }
  return result;
}

std::string limiting_factors_text(std::uint32_t factors) {
  constexpr std::array<std::string_view, 5> kNames = {"WARPS", "REGS", "SMEM", "BLOCKS",
                                                      "BARRIERS"};
  std::string text;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if ((factors >> i & 1) == 0) continue;
    if (!text.empty()) text += '|';
    text += kNames[i];
  }
  return text.empty() ? "none" : text;
}

// The arithmetic of the following is Kineto's DeviceProperties.cpp, whose floats show in traces;
// but large grids do not overflow here.

float blocks_per_multiprocessor(const DeviceLimits& device, const LaunchSize& launch) {
  if (device.multiprocessors <= 0) return std::numeric_limits<float>::infinity();
  double blocks = 1;
  for (const std::int32_t size : launch.grid) blocks *= std::max(size, 0);
  return static_cast<float>(blocks) / static_cast<float>(device.multiprocessors);
}

float warps_per_multiprocessor(const DeviceLimits& device, const LaunchSize& launch) {
  if (device.multiprocessors <= 0) return std::numeric_limits<float>::infinity();
  constexpr float kThreadsPerWarp = 32;  // whatever the device says
  return blocks_per_multiprocessor(device, launch) * static_cast<float>(block_threads(launch)) /
         kThreadsPerWarp;
}

int occupancy_percent(const DeviceLimits& device, const LaunchSize& launch,
                      const Occupancy& occupancy) {
  if (device.max_threads_per_multiprocessor <= 0) return 0;
  const float blocks = std::min(static_cast<float>(occupancy.active_blocks),
                                blocks_per_multiprocessor(device, launch));
  const float share = blocks * static_cast<float>(block_threads(launch)) /
                      static_cast<float>(device.max_threads_per_multiprocessor);
  return static_cast<int>(std::lround(std::min(share, 1.0F) * 100.0));
}

}  // namespace tbtrace::analyses
