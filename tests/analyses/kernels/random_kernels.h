// Random traces with kernels, for whichever figures are made of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <tbtrace/trace.h>

#include "fixtures/random_choices.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {

/// Small, and full of ties: two devices with two streams each, CUDA graphs, missing launches.
class RandomKernels : private fixtures::RandomChoices {
 public:
  explicit RandomKernels(unsigned seed) : RandomChoices(seed) {}

  Trace make() {
    for (auto count = below(6); count > 0; --count) add_operator();
    for (auto count = below(8); count > 0; --count) add_launch();
    for (auto count = below(24); count > 0; --count) add_device_row();
    return fixtures::finished(builder_);
  }

 private:
  void add_operator() {
    constexpr std::array<std::string_view, 4> kNames = {"aten::mm", "aten::add", "step", "a"};
    const std::string_view category = below(4) == 0 ? "user_annotation" : "cpu_op";
    const std::string_view name = one_of(kNames);
    const std::int64_t start = below(40);
    const std::int64_t duration = below(20);
    const std::int64_t thread = below(2);
    fixtures::add(builder_, {.category = category,
                             .name = name,
                             .start = start,
                             .duration = duration,
                             .thread = thread,
                             .external_id = below(5)});
  }

  void add_launch() {
    constexpr std::array<std::string_view, 3> kNames = {"cudaLaunchKernel", "cudaGraphLaunch",
                                                        "cuLaunchKernelEx"};
    const std::string_view name = one_of(kNames);
    const std::int64_t start = below(40);
    const std::int64_t duration = below(6);
    const std::int64_t thread = below(2);
    const std::int64_t id = below(5);
    fixtures::add(builder_, {.category = below(3) == 0 ? "cuda_driver" : "cuda_runtime",
                             .name = name,
                             .start = start,
                             .duration = duration,
                             .thread = thread,
                             .external_id = id,
                             .correlation = 1 + below(8)});
  }

  void add_device_row() {
    constexpr std::array<std::string_view, 6> kCategories = {
        "kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"};
    constexpr std::array<std::string_view, 5> kNames = {
        "ampere_fp16_s16816gemm_fp16_64x64_nn", "ampere_sgemm_64x64_nn",
        "void softmax_warp_forward<float, 1>(int)", "void softmax_warp_forward<float, 2>(int)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL"};
    const std::string_view category = one_of(kCategories);
    const std::string_view name = one_of(kNames);
    const std::int64_t start = below(60);
    const std::int64_t duration = below(4) == 0 ? 0 : below(12);
    const std::int64_t stream = 7 + below(2);
    const std::int64_t device = below(2);
    const std::int64_t id = below(5);
    const EventId event = fixtures::add(builder_, {.category = category,
                                                   .name = name,
                                                   .start = start,
                                                   .duration = duration,
                                                   .thread = stream,
                                                   .process = device,
                                                   .external_id = id,
                                                   .correlation = below(10)});
    add_configuration(event);
  }

  void add_configuration(EventId event) {
    if (below(2) != 0) {
      constexpr std::array<std::string_view, 3> kLabels = {"attention", "mlp", "layer 0"};
      builder_.add_argument(event, Argument::graph_node_id, below(3));
      if (below(3) != 0) {
        builder_.add_argument(event, Argument::label, builder_.intern(one_of(kLabels)));
      }
    }
    const auto size = [&] { return static_cast<std::uint32_t>(1 + below(2)); };
    if (below(4) != 0) builder_.add_argument(event, Argument::grid, Dim3{size(), 1, 1});
    if (below(4) != 0) builder_.add_argument(event, Argument::block, Dim3{128, size(), 1});
    if (below(4) != 0) {
      builder_.add_argument(event, Argument::registers_per_thread, 16 * below(2));
    }
    if (below(4) != 0) builder_.add_argument(event, Argument::shared_memory, 1024 * below(2));
    if (below(4) != 0) {
      builder_.add_argument(event, Argument::blocks_per_sm, static_cast<double>(below(9)) / 4);
    }
    if (below(4) != 0) {
      builder_.add_argument(event, Argument::occupancy, static_cast<double>(below(101)));
    }
  }

  TraceBuilder builder_;
};

}  // namespace tbtrace::analyses
