// Kernels by name: how many ran, and for how long.
// Rows own their texts. Pure function, any thread.
// Sums of durations saturate at 2^63 - 1 ns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

struct KernelRow {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t max_ns = 0;
};

/// Longest total time first, then by name.
std::vector<KernelRow> kernel_summary(const Trace& trace);

}  // namespace tbtrace::analyses
