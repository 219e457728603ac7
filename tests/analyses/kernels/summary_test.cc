#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/kernels.h>

#include "analyses/attribution/frame_rows.h"
#include "analyses/modules/model_rows.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using analyses::add_frame;
using analyses::ModelRows;
using fixtures::add;
using fixtures::finished;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;
using testing::Pair;
using testing::SizeIs;

EventId kernel(TraceBuilder& builder, std::string_view name, std::int64_t start,
               std::int64_t duration, std::int64_t correlation = 0) {
  return add(builder, {.category = "kernel",
                       .name = name,
                       .start = start,
                       .duration = duration,
                       .thread = 7,
                       .process = 0,
                       .correlation = correlation});
}

void launch(TraceBuilder& builder, std::string_view name, std::int64_t start, std::int64_t duration,
            std::int64_t correlation) {
  add(builder, {.category = "cuda_runtime",
                .name = name,
                .start = start,
                .duration = duration,
                .correlation = correlation});
}

/// As in the summary and in `lines`: not that of the library, and in a backward pass
/// that of the operator whose gradient is computed.
TEST(KernelSummary, ByLineIsByTheLinesOfTheUsersOwnCode) {
  ModelRows rows;
  TraceBuilder& builder = rows.builder();
  add_frame(builder, "train.py(46): <module>", 0, 100);
  add_frame(builder, "torch/nn/functional.py(1296): relu", 10, 50);
  rows.op("aten::relu", 20, 30, 5);
  launch(builder, "cudaLaunchKernel", 25, 5, 1);
  kernel(builder, "relu_forward", 30, 10, 1);
  add(builder, {.name = "autograd::engine::evaluate_function: ReluBackward0",
                .start = 200,
                .duration = 50,
                .thread = 2});
  rows.node("ReluBackward0", 205, 40, 5);
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 210,
                .duration = 5,
                .thread = 2,
                .correlation = 2});
  kernel(builder, "relu_backward", 220, 20, 2);
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 300,
                .duration = 5,
                .thread = 2,
                .correlation = 3});
  kernel(builder, "of_nobody", 310, 7, 3);
  const Trace trace = rows.finished();
  const KernelSummary by_line = *kernel_summary(trace, {.by = {GroupKey::line}});
  std::map<std::string, std::optional<std::string>> lines;
  for (const KernelGroup& group : by_line.groups) lines[group.name] = group.values.line;
  EXPECT_THAT(lines,
              ElementsAre(Pair("of_nobody", std::nullopt),
                          Pair("relu_backward", Optional<std::string>("train.py(46): <module>")),
                          Pair("relu_forward", Optional<std::string>("train.py(46): <module>"))));
  EXPECT_THAT(by_line.notes,
              ElementsAre(HasSubstr("1 of 3 kernels have no line: no line of your own")));
}

TEST(KernelSummary, CountsKernelsOnlyAndSumsUpCopies) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 10});
  add(builder, {.category = "gpu_memcpy", .name = "Memcpy", .start = 0, .duration = 10});
  add(builder, {.category = "gpu_memset", .name = "Memset", .start = 0, .duration = 3});
  kernel(builder, "gemm", 5, 4);
  const KernelSummary summary = *kernel_summary(finished(builder));
  ASSERT_THAT(summary.groups, SizeIs(1));
  EXPECT_EQ(summary.groups[0].name, "gemm");
  EXPECT_EQ(summary.all.total_ns, 4);
  EXPECT_EQ(summary.memcpys, 1U);
  EXPECT_EQ(summary.memcpy_ns, 10);
  EXPECT_EQ(summary.memsets, 1U);
  EXPECT_EQ(summary.memset_ns, 3);
  TraceBuilder nothing;
  EXPECT_THAT((*kernel_summary(finished(nothing))).groups, IsEmpty());
}

TEST(KernelSummary, OfAGraphCountsItsLaunchOnce) {
  TraceBuilder builder;
  launch(builder, "cudaGraphLaunch", 0, 10, 5);
  launch(builder, "cudaLaunchKernel", 20, 10, 6);
  kernel(builder, "a", 5, 2, 5);   // started during the call
  kernel(builder, "a", 14, 2, 5);  // 4 ns after it
  kernel(builder, "b", 17, 2, 5);
  kernel(builder, "b", 40, 2, 6);  // 10 ns after the other call, and shorter than it
  kernel(builder, "b", 50, 2, 99);
  const KernelSummary summary = *kernel_summary(finished(builder));
  ASSERT_THAT(summary.groups, SizeIs(2));
  const KernelGroup& b = summary.groups[0];
  EXPECT_EQ(b.name, "b");
  EXPECT_EQ(b.launches, 2U);
  EXPECT_EQ(b.launch_call_ns, 20);
  EXPECT_EQ(b.without_launch, 1U);
  EXPECT_EQ(b.launch_delay_total_ns, 17);
  EXPECT_EQ(b.launch_delay_max_ns, 10);
  EXPECT_THAT(b.launch_delay_mean_ns, Optional(DoubleEq(8.5)));
  EXPECT_EQ(b.short_kernels, 1U);
  const KernelGroup& a = summary.groups[1];
  EXPECT_EQ(a.launches, 1U);
  EXPECT_THAT(a.launch_delay_mean_ns, Optional(DoubleEq(2)));
  EXPECT_EQ(summary.all.launches, 2U);
  EXPECT_EQ(summary.all.launch_call_ns, 20);
}

/// Where a name does not show it, the operator does; but the operator around the launch of a graph
/// says nothing of the kernels in it.
TEST(KernelSummary, FamiliesAreThoseOfOperatorsThatLaunchKernelsThemselves) {
  for (const auto& [call, family] : {std::pair("cudaLaunchKernel", KernelFamily::gemm),
                                     std::pair("cudaGraphLaunch", KernelFamily::other)}) {
    TraceBuilder builder;
    add(builder, {.name = "aten::mm", .start = 0, .duration = 50});
    launch(builder, call, 10, 5, 1);
    kernel(builder, "k", 20, 10, 1);
    const KernelSummary summary =
        *kernel_summary(finished(builder), {.group_by = KernelGrouping::family});
    ASSERT_THAT(summary.groups, SizeIs(1)) << call;
    EXPECT_EQ(summary.groups[0].family, family) << call;
  }
}

TEST(KernelSummary, WeighsOccupancyByDuration) {
  TraceBuilder builder;
  builder.add_argument(kernel(builder, "k", 0, 30), Argument::occupancy, 100.0);
  builder.add_argument(kernel(builder, "k", 40, 10), Argument::occupancy, 20.0);
  kernel(builder, "k", 60, 40);  // has none
  const KernelSummary summary = *kernel_summary(finished(builder));
  EXPECT_THAT(summary.groups[0].occupancy_percent, Optional(DoubleEq(80)));
}

TEST(KernelSummary, SumsStayWithinTheirNumbers) {
  constexpr std::int64_t kLong = std::int64_t{1} << 62;
  TraceBuilder builder;
  for (int row = 0; row < 3; ++row) kernel(builder, "gemm", -kLong / 2, kLong - 1);
  const KernelSummary summary = *kernel_summary(finished(builder));
  ASSERT_THAT(summary.groups, SizeIs(1));
  EXPECT_EQ(summary.groups[0].total_ns, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(summary.all.total_ns, std::numeric_limits<std::int64_t>::max());
}

TEST(KernelSummary, OfStepsHasWhatStartedInThem) {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#1", .start = 0, .duration = 50});
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#2", .start = 50, .duration = 50});
  add(builder, {.category = "gpu_memcpy", .name = "Memcpy", .start = 20, .duration = 3});
  add(builder, {.category = "gpu_memset", .name = "Memset", .start = 90, .duration = 5});
  kernel(builder, "before", 10, 60);  // goes on in the second step
  kernel(builder, "edge", 50, 1);
  kernel(builder, "last", 99, 7);
  kernel(builder, "after", 100, 7);
  const Trace trace = finished(builder);
  const KernelSummary second = *kernel_summary(trace, {.steps = StepRange{2, 2}});
  EXPECT_EQ(second.all.total_ns, 8);
  EXPECT_EQ(second.memcpys, 0U);
  EXPECT_EQ(second.memset_ns, 5);
  const KernelSummary first = *kernel_summary(trace, {.steps = StepRange{1, 1}});
  EXPECT_EQ(first.all.total_ns, 60);
  EXPECT_EQ(first.memcpys, 1U);
  EXPECT_EQ(kernel_summary(trace, {.steps = StepRange{3, 3}}).status().code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tbtrace
