// Names of CUDA's calls and of CUPTI's results, as a version of CUPTI knows them.
// Texts are constants. Any thread. What has no name is null.
// The versions are those of cupti_records.h; only calls that a tracer may meet have names.
#pragma once

#include <cstdint>

namespace tbtrace::fake_cuda {

/// Numbers of callbacks are smaller, in either domain.
inline constexpr std::uint32_t kCallbacks = 1024;

/// The runtime's as `cudaLaunchKernel_v7000`.
const char* callback_name(std::uint32_t domain, std::uint32_t cbid);

/// `CUPTI_ERROR_UNKNOWN` of 999.
const char* result_name(int code);

}  // namespace tbtrace::fake_cuda
