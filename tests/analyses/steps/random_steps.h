// Random traces with steps, for whichever figures are made of them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/random_choices.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {

/// Small, and full of ties.
class RandomSteps : private fixtures::RandomChoices {
 public:
  explicit RandomSteps(unsigned seed) : RandomChoices(seed) {}

  Trace make() {
    add_steps();
    for (auto count = below(14); count > 0; --count) add_range();
    for (auto count = below(8); count > 0; --count) add_launch();
    for (auto count = below(10); count > 0; --count) add_device_row();
    for (auto count = below(6); count > 0; --count) add_memory();
    return fixtures::finished(builder_);
  }

 private:
  void add_steps() {
    std::int64_t at = below(6);
    const bool apart = below(4) != 0;  // as a profiler makes them; else any
    for (std::int64_t number = 0, count = below(5); number < count; ++number) {
      const std::int64_t duration = below(12);
      fixtures::add(builder_, {.category = below(3) == 0 ? "cpu_op" : "user_annotation",
                               .name = "ProfilerStep#" + std::to_string(number),
                               .start = apart ? at : below(40),
                               .duration = duration});
      at += duration + below(3);
    }
  }

  void add_range() {
    constexpr std::array<std::string_view, 6> kCategories = {
        "cpu_op", "cpu_op", "user_annotation", "python_function", "python", "overhead"};
    constexpr std::array<std::string_view, 9> kNames = {"a",
                                                        "b",
                                                        "c",
                                                        "enumerate(DataLoader)#x.__next__",
                                                        "enumerate(DataPipe)#y",
                                                        "nccl:all_reduce",
                                                        "gloo:barrier",
                                                        "record_param_comms",
                                                        "ProfilerStep#?"};
    fixtures::add(builder_, {.category = one_of(kCategories),
                             .name = one_of(kNames),
                             .start = below(40),
                             .duration = below(15),
                             .thread = below(2),
                             .external_id = below(4)});
  }

  void add_launch() {
    constexpr std::array<std::string_view, 3> kCategories = {"cuda_runtime", "cuda_runtime",
                                                             "cuda_driver"};
    fixtures::add(builder_, {.category = one_of(kCategories),
                             .name = "launch",
                             .start = below(40),
                             .duration = below(4),
                             .thread = below(2),
                             .external_id = below(4),
                             .correlation = below(9)});
  }

  void add_device_row() {
    constexpr std::array<std::string_view, 6> kCategories = {
        "kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"};
    constexpr std::array<std::string_view, 3> kNames = {"gemm", "nccl:all_reduce",
                                                        "ProfilerStep#1"};
    const std::string_view category = one_of(kCategories);
    fixtures::add(builder_, {.category = category,
                             .name = category == "gpu_user_annotation" ? one_of(kNames)
                                     : below(8) == 0                   ? "ncclDevKernel_AllReduce"
                                                                       : "gemm",
                             .start = below(60),
                             .duration = below(12),
                             .thread = 7 + below(2),
                             .process = below(3),
                             .external_id = below(4),
                             .correlation = below(9)});
  }

  void add_memory() {
    MemoryRecord record;
    record.time_ns = below(60);
    record.total_allocated_bytes = below(100) - 10;
    record.device_type = static_cast<DeviceType>(below(2));
    record.device_id = static_cast<std::int16_t>(below(2) - 1);
    record.track = fixtures::track(builder_, 1, 1);
    builder_.add_memory(record);
  }

  TraceBuilder builder_;
};

}  // namespace tbtrace::analyses
