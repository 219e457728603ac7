// Small random recordings of work on devices, full of ties: several devices and streams, rows that
// overlap on one stream, graphs (one launch, many kernels), launches after their work, work without
// a launch, steps. A seed gives the same one with every compiler.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/random_choices.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

class RandomDeviceWork : private fixtures::RandomChoices {
 public:
  explicit RandomDeviceWork(unsigned seed) : RandomChoices(seed) {}

  Trace make() {
    add_steps();
    for (auto count = below(12); count > 0; --count) add_launch();
    for (auto count = below(14); count > 0; --count) add_work();
    for (auto count = below(3); count > 0; --count) add_other();
    return fixtures::finished(builder_);
  }

 private:
  void add_steps() {
    std::int64_t at = below(6);
    for (std::int64_t number = 0, count = below(4); number < count; ++number) {
      const std::int64_t duration = 1 + below(15);
      fixtures::add(builder_, {.category = "user_annotation",
                               .name = "ProfilerStep#" + std::to_string(number),
                               .start = at,
                               .duration = duration});
      at += duration + below(3);
    }
  }

  void add_launch() {
    const std::int64_t start = below(40);
    const std::int64_t duration = below(5);
    const std::int64_t thread = below(2);
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .name = "cudaLaunchKernel",
                             .start = start,
                             .duration = duration,
                             .thread = thread,
                             .correlation = 1 + below(9)});
  }

  void add_work() {
    constexpr std::array<std::string_view, 6> kCategories = {"kernel", "kernel",     "kernel",
                                                             "kernel", "gpu_memcpy", "gpu_memset"};
    constexpr std::array<std::string_view, 3> kNames = {"gemm", "relu", "ncclDevKernel_AllReduce"};
    const std::string_view category = one_of(kCategories);
    const std::string_view name = category == "kernel" ? one_of(kNames) : "Memcpy";
    const std::int64_t start = below(60);
    const std::int64_t duration = below(10);
    const std::int64_t stream = 7 + below(2);
    const std::int64_t device = below(3) / 2;
    const EventId event = fixtures::add(builder_, {.category = category,
                                                   .name = name,
                                                   .start = start,
                                                   .duration = duration,
                                                   .thread = stream,
                                                   .process = device,
                                                   .correlation = below(11)});
    builder_.add_argument(event, Argument::stream, stream);
    if (category != "kernel" && below(2) == 0) {
      builder_.add_argument(event, Argument::copied_bytes, below(1000));
    }
  }

  /// Device rows that do not count as work.
  void add_other() {
    const bool annotation = below(2) == 0;
    const std::int64_t start = below(60);
    const EventId event =
        fixtures::add(builder_, {.category = annotation ? "gpu_user_annotation" : "cuda_sync",
                                 .name = annotation ? "nccl:all_reduce" : "Stream Sync",
                                 .start = start,
                                 .duration = below(20),
                                 .thread = 7,
                                 .process = 0});
    if (!annotation) builder_.add_argument(event, Argument::stream, std::int64_t{7});
  }

  TraceBuilder builder_;
};

}  // namespace tbtrace::analyses
