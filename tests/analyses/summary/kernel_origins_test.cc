// Where the largest kernels came from.
#include "analyses/summary/kernel_origins.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;

/// Operators in modules and lines, each with a kernel.
class KernelOriginsOf : public testing::Test {
 protected:
  void frame(std::string_view name, std::int64_t start, std::int64_t duration) {
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.flags = Events::kPythonFrame;
    if (name.starts_with("nn.Module: ")) row.flags |= Events::kModule;
    row.name = builder_.intern(name);
    row.track = fixtures::track(builder_, 1, 1);
    row.category = builder_.category(builder_.intern("python_function"));
    builder_.add_event(row);
  }

  void kernel(std::string_view name, std::int64_t at, std::int64_t duration,
              std::string_view op = "aten::mm", std::string_view shapes = "[[2, 3], [3, 4]]") {
    const std::int64_t correlation = ++last_;
    const EventId operation =
        op.empty() ? EventId::none : add(builder_, {.name = op, .start = at, .duration = 50});
    if (operation != EventId::none && !shapes.empty()) {
      builder_.add_argument(operation, Argument::input_dims, builder_.intern(shapes));
    }
    add(builder_, {.category = "cuda_runtime",
                   .name = "cudaLaunchKernel",
                   .start = at + 10,
                   .duration = 5,
                   .correlation = correlation});
    add(builder_, {.category = "kernel",
                   .name = name,
                   .start = at + 20,
                   .duration = duration,
                   .thread = 7,
                   .process = 0,
                   .correlation = correlation});
  }

  std::vector<KernelOrigin> origins() {
    const Trace trace = fixtures::finished(builder_);
    return kernel_origins(trace, kernel_summary(trace)->groups);
  }

  TraceBuilder builder_;
  std::int64_t last_ = 0;
};

TEST_F(KernelOriginsOf, ANameIsTheOneWithMostOfItsTime) {
  frame("train.py(7): <module>", 0, 10'000);
  frame("nn.Module: Linear_0", 100, 900);
  kernel("gemm", 200, 30);
  kernel("gemm", 400, 40);
  frame("nn.Module: Linear_1", 2000, 900);
  kernel("gemm", 2100, 60, "aten::addmm");
  const auto found = origins();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].op, "aten::mm");
  EXPECT_EQ(found[0].input_shapes, "[[2, 3], [3, 4]]");
  EXPECT_EQ(found[0].line, "train.py(7): <module>");
  EXPECT_EQ(found[0].module, "Linear_0");
  EXPECT_EQ(found[0].count, 2U);
  EXPECT_EQ(found[0].total_ns, 70);
}

TEST_F(KernelOriginsOf, RepeatedLayersIsOne) {
  frame("nn.Module: Net_0", 0, 9000);
  for (int layer = 0; layer < 3; ++layer) {
    const std::int64_t at = 100 + layer * 1000;
    frame(layer == 0   ? "nn.Module: Block_0"
          : layer == 1 ? "nn.Module: Block_1"
                       : "nn.Module: Block_2",
          at, 900);
    frame(layer == 0   ? "nn.Module: Linear_0"
          : layer == 1 ? "nn.Module: Linear_1"
                       : "nn.Module: Linear_2",
          at + 10, 800);
    kernel("gemm", at + 100, 20);
  }
  const auto found = origins();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].module, "Net.Block_*.Linear");
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_EQ(found[0].total_ns, 60);
}

TEST_F(KernelOriginsOf, GradientsThatAreSentIsNoLineAndNoModule) {
  frame("train.py(7): <module>", 0, 1000);
  frame("nn.Module: Linear_0", 100, 800);
  const EventId forward = add(builder_, {.name = "aten::linear", .start = 200, .duration = 50});
  builder_.add_argument(forward, Argument::sequence_number, std::int64_t{7});
  const EventId node = add(builder_, {.name = "AddmmBackward0", .start = 2000, .duration = 50});
  builder_.add_argument(node, Argument::sequence_number, std::int64_t{7});
  builder_.add_argument(node, Argument::forward_thread, std::int64_t{1});
  add(builder_, {.name = "torch::autograd::AccumulateGrad", .start = 3000, .duration = 600});
  kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 3100, 70,
         "nccl:all_reduce", "");
  kernel("add", 3300, 20, "aten::add_", "");
  const auto found = origins();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].op, "nccl:all_reduce");
  EXPECT_EQ(found[0].line, "");
  EXPECT_EQ(found[0].module, "");
  EXPECT_EQ(found[1].op, "aten::add_");
  EXPECT_EQ(found[1].line, "train.py(7): <module>") << "that of the node before it";
  EXPECT_EQ(found[1].module, "Linear");
}

TEST_F(KernelOriginsOf, KernelsThatNobodyIsKnownToHaveLaunchedIsEmpty) {
  add(builder_, {.category = "kernel",
                 .name = "alone",
                 .start = 20,
                 .duration = 30,
                 .thread = 7,
                 .process = 0,
                 .correlation = 99});
  const auto found = origins();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].op, "");
  EXPECT_EQ(found[0].input_shapes, "");
  EXPECT_EQ(found[0].line, "");
  EXPECT_EQ(found[0].module, "");
  EXPECT_EQ(found[0].total_ns, 30);
}

}  // namespace
}  // namespace tbtrace::analyses
