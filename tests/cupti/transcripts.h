// What real CUPTIs were seen to do, as data: the stand-in has to do the same.
// Each step is a call of CUPTI, or something that the program does, and what was observed after it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbtrace::cupti::transcripts {

// Functions that the program called in the recordings, by their numbers in CUDA's headers.
inline constexpr std::uint32_t kMalloc = 20;       // cudaMalloc_v3020
inline constexpr std::uint32_t kFree = 22;         // cudaFree_v3020
inline constexpr std::uint32_t kMemcpy = 31;       // cudaMemcpy_v3020
inline constexpr std::uint32_t kAlloc = 243;       // cuMemAlloc_v2
inline constexpr std::uint32_t kSet = 249;         // cuMemsetD8_v2
inline constexpr std::uint32_t kDriverFree = 245;  // cuMemFree_v2

enum class Do : std::uint8_t { enable_kind, disable_kind, call_on, call_off, make_context };

/// A step, and which of the program's three calls are recorded when it makes them afterwards.
struct CallStep {
  Do action;
  std::uint32_t number;  ///< of the function
  int result;
  std::vector<std::uint32_t> recorded;
};

/// Source: pantheongpu/pantheonsim, nvidia/tests/data/cupti_filter.expected: recorded with an RTX
/// 3060 and CUDA 13.0. Functions were switched on before the program had a context.
inline const std::vector<CallStep> kRuntimeBeforeContext = {
    {Do::call_on, 0, 0, {}},
    {Do::call_on, 99999, 1, {}},
    {Do::call_on, kMalloc, 0, {}},
    {Do::make_context, 0, 0, {kMalloc}},
    {Do::call_on, kFree, 0, {kMalloc, kFree}},
    {Do::call_on, kMemcpy, 0, {kMalloc, kMemcpy, kFree}},
    {Do::enable_kind, 0, 0, {kMalloc, kMemcpy, kFree}},
    {Do::call_off, kMalloc, 0, {kMemcpy, kFree}},
    {Do::enable_kind, 0, 0, {kMalloc, kMemcpy, kFree}},
    {Do::call_off, kFree, 0, {kMalloc, kMemcpy}},
    {Do::disable_kind, 0, 0, {}},
    {Do::call_on, kMemcpy, 0, {}},
    {Do::enable_kind, 0, 0, {kMalloc, kMemcpy, kFree}},
    {Do::disable_kind, 0, 0, {}},
};

/// Source: the same project, cupti_misc.expected. The program had a context, so functions that were
/// switched on one by one recorded nothing, although each call succeeded.
inline const std::vector<CallStep> kRuntimeWithContext = {
    {Do::make_context, 0, 0, {}},
    {Do::call_on, 0, 0, {}},
    {Do::call_on, 99999, 1, {}},
    {Do::call_on, kMalloc, 0, {}},
    {Do::call_on, kFree, 0, {}},
    {Do::enable_kind, 0, 0, {kMalloc, kMemcpy, kFree}},
    {Do::call_off, kMalloc, 0, {kMemcpy, kFree}},
    {Do::enable_kind, 0, 0, {kMalloc, kMemcpy, kFree}},
    {Do::call_off, kFree, 0, {kMalloc, kMemcpy}},
    {Do::disable_kind, 0, 0, {}},
    {Do::call_on, kMemcpy, 0, {}},
};

/// Source: the same file, "driver". Unlike the runtime's, the driver's functions did record.
inline const std::vector<CallStep> kDriverWithContext = {
    {Do::make_context, 0, 0, {}},
    {Do::call_on, kAlloc, 0, {kAlloc}},
    {Do::call_on, kDriverFree, 0, {kAlloc, kDriverFree}},
    {Do::enable_kind, 0, 0, {kAlloc, kSet, kDriverFree}},
    {Do::call_off, kSet, 0, {kAlloc, kDriverFree}},
    {Do::disable_kind, 0, 0, {}},
};

enum class Buffer : std::uint8_t {
  enable_kernels,
  disable_kernels,
  enable_runtime,
  launch,
  call,
  synchronize,
  flush
};

/// A step, and how many buffers CUPTI has asked for and given back after it.
struct BufferStep {
  Buffer action;
  std::uint64_t requested;
  std::uint64_t completed;
};

/// Source: the same project, cupti_buffers.expected.
inline constexpr std::array<BufferStep, 11> kBuffers = {{{Buffer::enable_kernels, 0, 0},
                                                         {Buffer::launch, 1, 0},
                                                         {Buffer::synchronize, 1, 0},
                                                         {Buffer::flush, 1, 1},
                                                         {Buffer::flush, 1, 1},
                                                         {Buffer::launch, 2, 1},
                                                         {Buffer::disable_kernels, 2, 1},
                                                         {Buffer::flush, 2, 2},
                                                         {Buffer::enable_runtime, 2, 2},
                                                         {Buffer::call, 3, 2},
                                                         {Buffer::flush, 3, 3}}};

}  // namespace tbtrace::cupti::transcripts
