// Kernels by name: how many, and how long they ran.
// Rows own their texts. Pure function, any thread.
// Durations are added up without overflow: what goes beyond 2^63 ns stays there.
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

/// The longest in all first, then by name.
std::vector<KernelRow> kernel_summary(const Trace& trace);

}  // namespace tbtrace::analyses
