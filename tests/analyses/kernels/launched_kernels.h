// A trace with a step, an operator, three calls and what they launched, for whichever figures are
// made of it.
#pragma once

#include <cstdint>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {

inline EventId add_launched(TraceBuilder& builder, std::string_view category, std::string_view name,
                            std::int64_t start, std::int64_t correlation) {
  const EventId event = fixtures::add(builder, {.category = category,
                                                .name = name,
                                                .start = start,
                                                .duration = 5,
                                                .thread = 7,
                                                .process = 0,
                                                .correlation = correlation});
  builder.add_argument(event, Argument::stream, std::int64_t{7});
  return event;
}

inline void add_call(TraceBuilder& builder, std::string_view name, std::int64_t start,
                     std::int64_t correlation) {
  fixtures::add(builder, {.category = "cuda_runtime",
                          .name = name,
                          .start = start,
                          .duration = 3,
                          .correlation = correlation});
}

inline Trace launched_kernels() {
  TraceBuilder builder;
  fixtures::add(
      builder,
      {.category = "user_annotation", .name = "ProfilerStep#12", .start = 0, .duration = 15});
  fixtures::add(builder, {.name = "aten::mm", .start = 0, .duration = 50});
  add_call(builder, "cudaLaunchKernel", 10, 1);
  add_call(builder, "cuLaunchKernel", 20, 2);
  add_call(builder, "cudaMemcpyAsync", 30, 3);
  add_launched(builder, "kernel", "a", 12, 1);  // began during the call
  add_launched(builder, "kernel", "b", 40, 2);
  add_launched(builder, "gpu_memcpy", "Memcpy HtoD", 60, 3);
  add_launched(builder, "kernel", "c", 70, 4);
  return fixtures::finished(builder);
}

}  // namespace tbtrace::analyses
