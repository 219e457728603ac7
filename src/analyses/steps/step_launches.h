// What the host launched in each step, and how long the calls took.
#pragma once

#include <cstdint>
#include <unordered_map>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

struct StepLaunches {
  std::uint64_t count = 0;  ///< calls that launched work; a CUDA graph is launched by one call
  std::int64_t ns = 0;      ///< in these calls
};

/// By the number of the step; those without launches are not in it.
std::unordered_map<std::int64_t, StepLaunches> step_launches(const Trace& trace);

}  // namespace tbtrace::analyses
