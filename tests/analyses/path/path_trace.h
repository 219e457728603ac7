// Traces with steps, kernels and waits, made by hand. Times are in ns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

inline constexpr std::int64_t kPathStream = 7;

class PathTrace {
 public:
  void step(std::int64_t number, std::int64_t start, std::int64_t duration) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "ProfilerStep#" + std::to_string(number),
                             .start = start,
                             .duration = duration});
  }
  /// A launch with the kernel that it starts.
  void kernel(std::int64_t launched, std::int64_t start, std::int64_t duration,
              std::int64_t stream = kPathStream, std::int64_t launch_duration = 2'000) {
    ++correlation_;
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .name = "cudaLaunchKernel",
                             .start = launched,
                             .duration = launch_duration,
                             .correlation = correlation_});
    fixtures::add(builder_, {.category = "kernel",
                             .name = "gemm",
                             .start = start,
                             .duration = duration,
                             .thread = stream,
                             .process = 0,
                             .correlation = correlation_});
  }
  void wait(std::int64_t start, std::int64_t duration) {
    call("cudaDeviceSynchronize", start, duration);
  }

  void call(std::string_view name, std::int64_t start, std::int64_t duration,
            std::int64_t thread = 1) {
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .name = name,
                             .start = start,
                             .duration = duration,
                             .thread = thread});
  }
  void op(std::string_view name, std::int64_t start, std::int64_t duration,
          std::int64_t thread = 1) {
    fixtures::add(builder_, {.name = name, .start = start, .duration = duration, .thread = thread});
  }
  Trace trace() { return std::move(builder_).finish(); }

 protected:
  TraceBuilder builder_;
  std::int64_t correlation_ = 0;
};

}  // namespace tbtrace::analyses
