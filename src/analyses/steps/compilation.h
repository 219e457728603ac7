// Compilation and autotuning, which a program does in its first steps and not again.
// Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// Whether a host range compiles code, or tries configurations of kernels: torch.compile's timed
/// phases, functions of Dynamo's and Inductor's compilers, Triton's compiler and autotuner. Not
/// what runs compiled code or looks for it.
bool is_compilation(std::string_view name);

/// By step, which do not overlap and are by start: how long any thread compiled or tuned.
std::vector<std::int64_t> compilation_times(const Trace& trace, std::span<const TimeRange> steps);

}  // namespace tbtrace::analyses
