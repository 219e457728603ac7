#include "analyses/kernels/occupancy.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

// NVIDIA's own calculator comes with the CUDA toolkit and needs nothing of it.
#if __has_include(<cuda_occupancy.h>)
#define TBTRACE_HAS_NVIDIA_CALCULATOR
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

namespace tbtrace::analyses {
namespace {

constexpr int kKiB = 1024;
constexpr float kInfinite = std::numeric_limits<float>::infinity();

struct Model {
  const char* name;
  int major;
  int minor;
  int threads;
  int blocks;
  int registers;            // of a multiprocessor
  int registers_per_block;  // at most
  int shared;               // of a multiprocessor, in KiB
  int shared_optin;         // likewise
  int reserved;             // likewise
  int multiprocessors;
};

// The CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", in the
// editions that have the device. For the numbers of multiprocessors any would do.
constexpr Model kK40 = {"K40", 3, 5, 2048, 16, 65536, 65536, 48, 48, 0, 15};
constexpr Model kK80 = {"K80", 3, 7, 2048, 16, 131072, 65536, 112, 48, 0, 13};
constexpr Model kM40 = {"M40", 5, 2, 2048, 32, 65536, 65536, 96, 48, 0, 24};
constexpr Model kJetsonX1 = {"X1", 5, 3, 2048, 32, 65536, 32768, 64, 48, 0, 2};
constexpr Model kP100 = {"P100", 6, 0, 2048, 32, 65536, 65536, 64, 48, 0, 56};
constexpr Model kP40 = {"P40", 6, 1, 2048, 32, 65536, 65536, 96, 48, 0, 30};
constexpr Model kJetsonX2 = {"X2", 6, 2, 2048, 32, 65536, 32768, 64, 48, 0, 2};
constexpr Model kV100 = {"V100", 7, 0, 2048, 32, 65536, 65536, 96, 96, 0, 80};
constexpr Model kXavier = {"Xavier", 7, 2, 2048, 32, 65536, 65536, 96, 96, 0, 8};
constexpr Model kT4 = {"T4", 7, 5, 1024, 16, 65536, 65536, 64, 64, 0, 40};
constexpr Model kA100 = {"A100", 8, 0, 2048, 32, 65536, 65536, 164, 163, 1, 108};
constexpr Model kA10 = {"A10", 8, 6, 1536, 16, 65536, 65536, 100, 99, 1, 72};
constexpr Model kOrin = {"Orin", 8, 7, 1536, 16, 65536, 65536, 164, 163, 1, 16};
constexpr Model kL40 = {"L40", 8, 9, 1536, 24, 65536, 65536, 100, 99, 1, 142};
constexpr Model kH200 = {"H200", 9, 0, 2048, 32, 65536, 65536, 228, 227, 1, 132};
constexpr Model kB200 = {"B200", 10, 0, 2048, 32, 65536, 65536, 228, 227, 1, 148};
constexpr Model kB300 = {"B300", 10, 3, 2048, 32, 65536, 65536, 228, 227, 1, 148};
constexpr Model kThor = {"Thor", 11, 0, 1536, 24, 65536, 65536, 228, 227, 1, 20};
constexpr Model kRtx5090 = {"RTX 5090", 12, 0, 1536, 24, 65536, 65536, 100, 99, 1, 170};
constexpr Model kSpark = {"GB10", 12, 1, 1536, 24, 65536, 65536, 100, 99, 1, 48};

constexpr Model kModels[] = {kK40,  kK80,    kM40,  kJetsonX1, kP100,    kP40,  kJetsonX2,
                             kV100, kXavier, kT4,   kA100,     kA10,     kOrin, kL40,
                             kH200, kB200,   kB300, kThor,     kRtx5090, kSpark};

DeviceLimits device(const Model& model) {
  DeviceLimits properties;
  properties.compute_major = model.major;
  properties.compute_minor = model.minor;
  properties.max_threads_per_block = 1024;
  properties.max_threads_per_multiprocessor = model.threads;
  properties.max_blocks_per_multiprocessor = model.blocks;
  properties.registers_per_block = model.registers_per_block;
  properties.registers_per_multiprocessor = model.registers;
  properties.warp_size = 32;
  properties.shared_bytes_per_block = 48 * kKiB;
  properties.shared_bytes_per_block_optin = model.shared_optin * kKiB;
  properties.shared_bytes_per_multiprocessor = model.shared * kKiB;
  properties.reserved_shared_bytes_per_block = model.reserved * kKiB;
  properties.multiprocessors = model.multiprocessors;
  return properties;
}

/// A launch of very many blocks.
LaunchSize launch(int threads, std::uint32_t registers, int static_bytes = 0,
                  int dynamic_bytes = 0) {
  LaunchSize result;
  result.grid = {1'000'000, 1, 1};
  result.block = {threads, 1, 1};
  result.registers_per_thread = registers;
  result.static_shared_bytes = static_bytes;
  result.dynamic_shared_bytes = dynamic_bytes;
  return result;
}

int percent(const DeviceLimits& properties, const LaunchSize& kernel, SharedMemoryRule rule) {
  return occupancy_percent(properties, kernel, find_occupancy(properties, kernel, rule));
}

std::string factors(const Occupancy& occupancy) {
  return limiting_factors_text(occupancy.limiting_factors);
}

TEST(Occupancy, IsThatOfTheBestPracticesGuide) {
  // CUDA C++ Best Practices Guide, "Calculating Occupancy": 37 registers on compute capability 7.0
  // let 12 blocks of 128 threads run (75 %), or 4 blocks of 320 threads (63 %).
  const DeviceLimits v100 = device(kV100);
  Occupancy found = find_occupancy(v100, launch(128, 37), SharedMemoryRule::kineto);
  EXPECT_EQ(found.active_blocks, 12);
  EXPECT_EQ(found.allocated_registers_per_block, 4 * 1280);
  EXPECT_EQ(factors(found), "REGS");
  EXPECT_EQ(occupancy_percent(v100, launch(128, 37), found), 75);
  found = find_occupancy(v100, launch(320, 37), SharedMemoryRule::kineto);
  EXPECT_EQ(found.active_blocks, 4);
  EXPECT_EQ(occupancy_percent(v100, launch(320, 37), found), 63);
  // There too: no more than 32 registers for 100 %.
  EXPECT_EQ(percent(v100, launch(256, 32), SharedMemoryRule::kineto), 100);
  EXPECT_EQ(percent(v100, launch(256, 33), SharedMemoryRule::kineto), 75);
}

TEST(Occupancy, AllLimitsAreTold) {
  // 8 warps of 32 * 64 registers; 10 KiB and the driver's 1 KiB of 228 KiB.
  const Occupancy found =
      find_occupancy(device(kH200), launch(256, 64, 10 * kKiB), SharedMemoryRule::kineto);
  Occupancy expected;
  expected.active_blocks = 4;
  expected.block_limit_warps = 8;
  expected.block_limit_registers = 4;
  expected.block_limit_shared_memory = 20;
  expected.block_limit_blocks = 32;
  expected.block_limit_barriers = INT_MAX;
  expected.allocated_registers_per_block = 16384;
  expected.allocated_shared_bytes_per_block = 11 * kKiB;
  expected.limiting_factors = Occupancy::kRegisters;
  EXPECT_EQ(found, expected);
}

TEST(Occupancy, SmallBlocksAreLimitedByTheirNumber) {
  // Tuning guides of Hopper, Turing and Ada: 32, 16 and 24 blocks.
  const LaunchSize small = launch(32, 16);
  for (const auto& [model, blocks, share] :
       {std::tuple{kH200, 32, 50}, {kT4, 16, 50}, {kL40, 24, 50}, {kA10, 16, 33}}) {
    const Occupancy found = find_occupancy(device(model), small, SharedMemoryRule::kineto);
    EXPECT_EQ(found.active_blocks, blocks) << model.name;
    EXPECT_EQ(factors(found), "BLOCKS") << model.name;
    EXPECT_EQ(occupancy_percent(device(model), small, found), share) << model.name;
  }
}

TEST(Occupancy, WhatLimitsAlikeIsAllNamed) {
  const DeviceLimits a100 = device(kA100);
  EXPECT_EQ(factors(find_occupancy(a100, launch(1024, 32), SharedMemoryRule::kineto)),
            "WARPS|REGS");
  EXPECT_EQ(factors(find_occupancy(a100, launch(64, 32), SharedMemoryRule::kineto)),
            "WARPS|REGS|BLOCKS");
  EXPECT_EQ(factors(find_occupancy(a100, launch(256, 16), SharedMemoryRule::kineto)), "WARPS");
  EXPECT_EQ(limiting_factors_text(0), "none");
  EXPECT_EQ(limiting_factors_text(Occupancy::kSharedMemory | Occupancy::kBarriers),
            "SMEM|BARRIERS");
  EXPECT_EQ(limiting_factors_text(~0U), "WARPS|REGS|SMEM|BLOCKS|BARRIERS");
}

TEST(Occupancy, MuchDynamicSharedMemoryIsNothingOnlyToKineto) {
  const DeviceLimits h200 = device(kH200);
  for (const auto& [bytes, kineto, opt_in] : {std::tuple{48 * kKiB, 4, 4},
                                              {48 * kKiB + 1, 0, 4},
                                              {100 * kKiB, 0, 2},
                                              {200 * kKiB, 0, 1},
                                              {227 * kKiB, 0, 1},
                                              {227 * kKiB + 1, 0, 0}}) {
    const LaunchSize kernel = launch(128, 168, 0, bytes);
    const Occupancy as_kineto = find_occupancy(h200, kernel, SharedMemoryRule::kineto);
    EXPECT_EQ(as_kineto.block_limit_shared_memory, kineto) << bytes;
    const Occupancy right = find_occupancy(h200, kernel, SharedMemoryRule::opt_in);
    EXPECT_EQ(right.block_limit_shared_memory, opt_in) << bytes;
    EXPECT_EQ(right.allocated_shared_bytes_per_block, as_kineto.allocated_shared_bytes_per_block);
  }
  // Static memory counts as well, and none at all limits nothing where the driver takes none.
  EXPECT_EQ(find_occupancy(h200, launch(128, 32, 40 * kKiB, 9 * kKiB), SharedMemoryRule::kineto)
                .active_blocks,
            0);
  EXPECT_EQ(find_occupancy(device(kV100), launch(128, 32), SharedMemoryRule::kineto)
                .block_limit_shared_memory,
            INT_MAX);
}

TEST(Occupancy, IsWhatKinetoPrinted) {
  // A kernel of an A100 in the tests of Meta's HolisticTraceAnalysis, with Kineto's 0 %.
  LaunchSize kernel = launch(128, 240, 0, 98304);
  kernel.grid = {32, 1, 2};
  const DeviceLimits a100 = device(kA100);
  EXPECT_EQ(blocks_per_multiprocessor(a100, kernel), 0.5925926F);
  EXPECT_EQ(warps_per_multiprocessor(a100, kernel), 2.3703704F);
  EXPECT_EQ(percent(a100, kernel, SharedMemoryRule::kineto), 0);
  EXPECT_EQ(percent(a100, kernel, SharedMemoryRule::opt_in), 4);
}

TEST(Occupancy, SmallGridsDoNotFillTheDevice) {
  const DeviceLimits h200 = device(kH200);
  LaunchSize kernel = launch(256, 32);
  kernel.block = {16, 8, 2};
  kernel.grid = {11, 3, 4};
  EXPECT_EQ(blocks_per_multiprocessor(h200, kernel), 1.0F);
  EXPECT_EQ(warps_per_multiprocessor(h200, kernel), 8.0F);
  EXPECT_EQ(percent(h200, kernel, SharedMemoryRule::opt_in), 13);  // 12.5
  kernel.grid = {1, 1, 1};
  EXPECT_EQ(percent(h200, kernel, SharedMemoryRule::opt_in), 0);
  kernel.grid = {66, 1, 1};
  EXPECT_EQ(percent(h200, kernel, SharedMemoryRule::opt_in), 6);
  kernel.block = {5, 1, 1};  // a part of a warp
  EXPECT_EQ(warps_per_multiprocessor(h200, kernel), 0.5F * 5 / 32);
}

TEST(Occupancy, ThatOfAnotherLaunchIsNoMoreThanFull) {
  Occupancy other;
  other.active_blocks = INT_MAX;
  EXPECT_EQ(occupancy_percent(device(kH200), launch(1024, 32), other), 100);
}

TEST(Occupancy, RegistersOfAThreadHaveALimit) {
  EXPECT_EQ(
      find_occupancy(device(kP40), launch(32, 255), SharedMemoryRule::kineto).block_limit_registers,
      8);
  for (const std::uint32_t registers : {256U, 257U, 65535U}) {
    EXPECT_EQ(find_occupancy(device(kP40), launch(32, registers), SharedMemoryRule::kineto)
                  .block_limit_registers,
              0);
  }
  EXPECT_EQ(find_occupancy(device(kA100), launch(32, 257), SharedMemoryRule::kineto).active_blocks,
            0);
  EXPECT_EQ(
      find_occupancy(device(kA100), launch(32, 0), SharedMemoryRule::kineto).block_limit_registers,
      INT_MAX);
  // More than a block may have: 1024 threads of 65 registers.
  EXPECT_EQ(find_occupancy(device(kA100), launch(1024, 65), SharedMemoryRule::kineto).active_blocks,
            0);
}

TEST(Occupancy, BlocksMayBeAsLargeAsTheDeviceSays) {
  EXPECT_EQ(find_occupancy(device(kA100), launch(1024, 16), SharedMemoryRule::kineto).active_blocks,
            2);
  const Occupancy too_large =
      find_occupancy(device(kA100), launch(1025, 16), SharedMemoryRule::kineto);
  EXPECT_EQ(too_large.active_blocks, 0);
  EXPECT_EQ(factors(too_large), "WARPS");
}

TEST(Occupancy, DriversThatDoNotTellTheNumberOfBlocksNeedNot) {
  for (const Model& model : kModels) {
    DeviceLimits silent = device(model);
    silent.max_blocks_per_multiprocessor = 0;
    EXPECT_EQ(find_occupancy(silent, launch(32, 16), SharedMemoryRule::kineto),
              find_occupancy(device(model), launch(32, 16), SharedMemoryRule::kineto))
        << model.name;
  }
}

TEST(Occupancy, NewDevicesAreLikeTheNewestThatIsKnown) {
  DeviceLimits future = device(kRtx5090);
  future.compute_major = 17;
  EXPECT_EQ(find_occupancy(future, launch(96, 50, 3000), SharedMemoryRule::opt_in),
            find_occupancy(device(kRtx5090), launch(96, 50, 3000), SharedMemoryRule::opt_in));
  future.max_blocks_per_multiprocessor = 48;  // its own word counts
  EXPECT_EQ(find_occupancy(future, launch(32, 16), SharedMemoryRule::opt_in).block_limit_blocks,
            48);
  future.compute_major = 2;
  EXPECT_EQ(find_occupancy(future, launch(32, 16), SharedMemoryRule::opt_in), Occupancy{});
}

TEST(Occupancy, ADeviceOfWhichNothingIsKnownGivesNothing) {
  const LaunchSize kernel = launch(256, 32);
  EXPECT_EQ(find_occupancy({}, kernel, SharedMemoryRule::kineto), Occupancy{});
  EXPECT_EQ(occupancy_percent({}, kernel, {}), 0);
  EXPECT_EQ(blocks_per_multiprocessor({}, kernel), kInfinite);
  EXPECT_EQ(warps_per_multiprocessor({}, kernel), kInfinite);
  EXPECT_EQ(warps_per_multiprocessor({}, {}), kInfinite);

  DeviceLimits unknown = device(kH200);
  unknown.multiprocessors = 0;
  EXPECT_EQ(blocks_per_multiprocessor(unknown, kernel), kInfinite);
  EXPECT_EQ(percent(unknown, kernel, SharedMemoryRule::kineto), 0);
}

TEST(Occupancy, LaunchesThatCannotBeGiveNothing) {
  const DeviceLimits h200 = device(kH200);
  LaunchSize none;
  EXPECT_EQ(find_occupancy(h200, none, SharedMemoryRule::kineto), Occupancy{});
  EXPECT_EQ(blocks_per_multiprocessor(h200, none), 0.0F);
  EXPECT_EQ(warps_per_multiprocessor(h200, none), 0.0F);
  EXPECT_EQ(percent(h200, none, SharedMemoryRule::kineto), 0);

  LaunchSize huge = launch(INT_MAX, 32);
  huge.grid = {INT_MAX, INT_MAX, INT_MAX};
  EXPECT_NEAR(blocks_per_multiprocessor(h200, huge), std::pow(2.0F, 93.0F) / 132, 1e20);
  EXPECT_EQ(find_occupancy(h200, huge, SharedMemoryRule::kineto).active_blocks, 0);
  EXPECT_EQ(find_occupancy(h200, huge, SharedMemoryRule::kineto).allocated_registers_per_block,
            INT_MAX);
  huge.block = {INT_MAX, INT_MAX, INT_MAX};  // not even a number of threads
  EXPECT_EQ(find_occupancy(h200, huge, SharedMemoryRule::kineto), Occupancy{});
  EXPECT_EQ(warps_per_multiprocessor(h200, huge), 0.0F);

  LaunchSize negative = launch(64, 32);
  negative.grid = {-3, 2, -1};
  EXPECT_EQ(blocks_per_multiprocessor(h200, negative), 0.0F);
  negative.block = {-32, 1, -1};
  EXPECT_EQ(find_occupancy(h200, negative, SharedMemoryRule::kineto), Occupancy{});
  EXPECT_EQ(find_occupancy(h200, launch(64, 32, -1), SharedMemoryRule::kineto), Occupancy{});
  EXPECT_EQ(find_occupancy(h200, launch(64, 32, 0, INT_MIN), SharedMemoryRule::opt_in),
            Occupancy{});
  EXPECT_EQ(find_occupancy(h200, launch(64, 0xffffffff), SharedMemoryRule::opt_in), Occupancy{});
}

TEST(Occupancy, AnyNumbersAreSurvived) {
  std::mt19937 random(17);
  constexpr int kOdd[] = {INT_MIN, -1, 0, 1, 2, 3, 31, 32, 1024, 65536, INT_MAX - 1, INT_MAX};
  const auto odd = [&random, &kOdd] { return kOdd[random() % std::size(kOdd)]; };
  for (int i = 0; i < fixtures::random_rounds(300'000); ++i) {
    DeviceLimits properties = device(kModels[random() % std::size(kModels)]);
    for (int* number :
         {&properties.compute_major, &properties.compute_minor, &properties.max_threads_per_block,
          &properties.max_threads_per_multiprocessor, &properties.max_blocks_per_multiprocessor,
          &properties.registers_per_block, &properties.registers_per_multiprocessor,
          &properties.warp_size, &properties.shared_bytes_per_block,
          &properties.shared_bytes_per_block_optin, &properties.shared_bytes_per_multiprocessor,
          &properties.reserved_shared_bytes_per_block, &properties.multiprocessors}) {
      if (random() % 6 == 0) *number = odd();
    }
    const std::array<int, 4> numbers = {odd(), odd(), odd(), odd()};
    LaunchSize kernel =
        launch(numbers[0], static_cast<std::uint32_t>(numbers[1]), numbers[2], numbers[3]);
    if (random() % 2 == 0) kernel.registers_per_thread = static_cast<std::uint32_t>(random() % 300);
    for (std::int32_t& size : kernel.grid) size = odd();
    for (std::int32_t& size : kernel.block) size = odd();
    for (const SharedMemoryRule rule : {SharedMemoryRule::kineto, SharedMemoryRule::opt_in}) {
      const Occupancy found = find_occupancy(properties, kernel, rule);
      EXPECT_GE(found.active_blocks, 0);
      EXPECT_GE(found.allocated_registers_per_block, 0);
      EXPECT_GE(found.allocated_shared_bytes_per_block, 0);
      const int share = occupancy_percent(properties, kernel, found);
      EXPECT_TRUE(share >= 0 && share <= 100) << share;
    }
    EXPECT_GE(blocks_per_multiprocessor(properties, kernel), 0.0F);
    EXPECT_GE(warps_per_multiprocessor(properties, kernel), 0.0F);
  }
}

#ifdef TBTRACE_HAS_NVIDIA_CALCULATOR
cudaOccDeviceProp nvidia_device(const DeviceLimits& from) {
  cudaOccDeviceProp to;
  to.computeMajor = from.compute_major;
  to.computeMinor = from.compute_minor;
  to.maxThreadsPerBlock = from.max_threads_per_block;
  to.maxThreadsPerMultiprocessor = from.max_threads_per_multiprocessor;
  to.regsPerBlock = from.registers_per_block;
  to.regsPerMultiprocessor = from.registers_per_multiprocessor;
  to.warpSize = from.warp_size;
  to.sharedMemPerBlock = static_cast<std::size_t>(from.shared_bytes_per_block);
  to.sharedMemPerMultiprocessor = static_cast<std::size_t>(from.shared_bytes_per_multiprocessor);
  to.numSms = from.multiprocessors;
  to.sharedMemPerBlockOptin = static_cast<std::size_t>(from.shared_bytes_per_block_optin);
  to.reservedSharedMemPerBlock = static_cast<std::size_t>(from.reserved_shared_bytes_per_block);
  return to;
}

/// NVIDIA's answer. For SharedMemoryRule::kineto it is asked as Kineto's DeviceProperties.cpp does.
Occupancy nvidia_occupancy(const DeviceLimits& properties, const LaunchSize& kernel,
                           SharedMemoryRule rule) {
  const auto dynamic_bytes = static_cast<std::size_t>(kernel.dynamic_shared_bytes);
  const cudaOccDeviceProp to_device = nvidia_device(properties);
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = INT_MAX;
  function.numRegs = static_cast<int>(kernel.registers_per_thread);
  function.sharedSizeBytes = static_cast<std::size_t>(kernel.static_shared_bytes);
  if (rule == SharedMemoryRule::opt_in) {
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = dynamic_bytes;
  }
  const cudaOccDeviceState state;
  cudaOccResult result = {};
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &to_device, &function, &state, kernel.block[0] * kernel.block[1] * kernel.block[2],
      dynamic_bytes);
  EXPECT_EQ(error, CUDA_OCC_SUCCESS);

  Occupancy occupancy;
  occupancy.active_blocks = result.activeBlocksPerMultiprocessor;
  occupancy.block_limit_warps = result.blockLimitWarps;
  occupancy.block_limit_registers = result.blockLimitRegs;
  occupancy.block_limit_shared_memory = result.blockLimitSharedMem;
  occupancy.block_limit_blocks = result.blockLimitBlocks;
  occupancy.block_limit_barriers = result.blockLimitBarriers;
  occupancy.allocated_registers_per_block = result.allocatedRegistersPerBlock;
  occupancy.allocated_shared_bytes_per_block = static_cast<int>(result.allocatedSharedMemPerBlock);
  occupancy.limiting_factors = result.limitingFactors;
  return occupancy;
}

/// Kineto's numbers of a launch, with its arithmetic.
void expect_kineto_numbers(const DeviceLimits& properties, const LaunchSize& kernel,
                           const Occupancy& occupancy) {
  const int threads = kernel.block[0] * kernel.block[1] * kernel.block[2];
  const float blocks = static_cast<float>(kernel.grid[0] * kernel.grid[1] * kernel.grid[2]) /
                       static_cast<float>(properties.multiprocessors);
  EXPECT_EQ(blocks_per_multiprocessor(properties, kernel), blocks);
  EXPECT_EQ(warps_per_multiprocessor(properties, kernel),
            blocks * static_cast<float>(threads) / 32);
  const float share = std::min(static_cast<float>(occupancy.active_blocks), blocks) *
                      static_cast<float>(threads) /
                      static_cast<float>(properties.max_threads_per_multiprocessor);
  EXPECT_EQ(occupancy_percent(properties, kernel, occupancy), std::lround(share * 100.0));
}

LaunchSize random_launch(const DeviceLimits& properties, std::mt19937& random) {
  const auto up_to = [&random](int most) {
    return std::uniform_int_distribution<int>(0, most)(random);
  };
  LaunchSize kernel;
  kernel.grid = {1 + up_to(1000), 1 + up_to(3), 1 + up_to(3)};
  switch (up_to(3)) {
    case 0:
      kernel.block = {1 + up_to(1100), 1, 1};
      break;
    case 1:
      kernel.block = {1 + up_to(32), 1 + up_to(8), 1 + up_to(4)};
      break;
    default:
      kernel.block = {32 * (1 + up_to(32)), 1, 1};
  }
  kernel.registers_per_thread = static_cast<std::uint32_t>(up_to(4) == 0 ? up_to(300) : up_to(64));
  // Around the limits there are the most ways to be wrong.
  const auto bytes = [&] {
    const int limits[] = {properties.shared_bytes_per_block,
                          properties.shared_bytes_per_block_optin,
                          properties.shared_bytes_per_multiprocessor, 0};
    switch (up_to(3)) {
      case 0:
        return 0;
      case 1:
        return up_to(properties.shared_bytes_per_multiprocessor + 2000);
      case 2:
        return up_to(16384);
      default:
        return std::max(0, limits[up_to(3)] / (1 + up_to(3)) + up_to(2) - 1 -
                               properties.reserved_shared_bytes_per_block * up_to(1));
    }
  };
  kernel.static_shared_bytes = up_to(1) == 0 ? 0 : bytes();
  kernel.dynamic_shared_bytes = bytes();
  return kernel;
}

class OccupancyOf : public testing::TestWithParam<Model> {};

TEST_P(OccupancyOf, IsNvidias) {
  const DeviceLimits properties = device(GetParam());
  DeviceLimits silent = properties;
  silent.max_blocks_per_multiprocessor = 0;
  std::mt19937 random(4711);
  for (int i = 0; i < fixtures::random_rounds(10'000); ++i) {
    const LaunchSize kernel = random_launch(properties, random);
    for (const SharedMemoryRule rule : {SharedMemoryRule::kineto, SharedMemoryRule::opt_in}) {
      const Occupancy expected = nvidia_occupancy(properties, kernel, rule);
      const Occupancy found = find_occupancy(properties, kernel, rule);
      EXPECT_EQ(found.active_blocks, expected.active_blocks);
      EXPECT_EQ(factors(found), factors(expected));
      ASSERT_EQ(found, expected) << GetParam().name << ": blocks of " << kernel.block[0] << " x "
                                 << kernel.block[1] << " x " << kernel.block[2] << " threads of "
                                 << kernel.registers_per_thread << " registers, "
                                 << kernel.static_shared_bytes << " + "
                                 << kernel.dynamic_shared_bytes << " bytes";
      ASSERT_EQ(find_occupancy(silent, kernel, rule), expected);
      expect_kineto_numbers(properties, kernel, found);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OccupancyOf, testing::ValuesIn(kModels), [](const auto& model) {
  return "Compute" + std::to_string(model.param.major) + std::to_string(model.param.minor);
});
#endif

}  // namespace
}  // namespace tbtrace::analyses
