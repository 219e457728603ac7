// Totals of several traces, computed by hand.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/report.h>
#include <tbtrace/steps.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

/// A step in which kernels of the given durations run one after the other, each launched
/// `delay` ns before it starts, and a kernel without launch.
Trace trace_of(const std::vector<std::int64_t>& durations, std::int64_t delay, std::int64_t step) {
  TraceBuilder builder;
  fixtures::add(
      builder,
      {.category = "user_annotation", .name = "ProfilerStep#1", .start = 0, .duration = step});
  std::int64_t at = 20;
  for (const std::int64_t duration : durations) {
    fixtures::add(builder, {.category = "cuda_runtime",
                            .name = "cudaLaunchKernel",
                            .start = at - delay - 1,
                            .duration = 1,
                            .correlation = at});
    fixtures::add(builder, {.category = "kernel",
                            .name = "gemm",
                            .start = at,
                            .duration = duration,
                            .thread = 7,
                            .process = 0,
                            .correlation = at});
    at += 20;
  }
  fixtures::add(builder, {.category = "kernel",
                          .name = "copy",
                          .start = at,
                          .duration = 4,
                          .thread = 7,
                          .process = 0});
  return fixtures::finished(builder);
}

Cell total(const AnalysisReport& report, std::string_view name) {
  for (const auto& [key, value] : report.totals) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no total " << name;
  return {};
}

template <typename Report>
AnalysisReport of_both(const Report& report) {
  std::vector<AnalysisReport> reports;
  reports.push_back(report(trace_of({10, 6}, 3, 100)));
  reports.push_back(report(trace_of({8}, 9, 300)));
  return join_reports(std::move(reports));
}

TEST(JoinedReports, BusyShareIsThatOfAllDevices) {
  const AnalysisReport gpu = of_both([](const Trace& trace) { return *gpu_report(trace); });
  EXPECT_EQ(total(gpu, "window_ns"), Cell(std::int64_t{44 + 24}));
  EXPECT_EQ(total(gpu, "busy_ns"), Cell(std::int64_t{20 + 12}));
  EXPECT_EQ(total(gpu, "idle_ns"), Cell(std::int64_t{24 + 12}));
  EXPECT_EQ(total(gpu, "busy_share"), Cell(32.0 / 68));
}

TEST(JoinedReports, MeanLaunchDelayIsThatOfAllLaunchedKernels) {
  const AnalysisReport kernels = of_both([](const Trace& trace) { return *kernels_report(trace); });
  EXPECT_EQ(total(kernels, "count"), Cell(std::uint64_t{5}));
  EXPECT_EQ(total(kernels, "without_launch"), Cell(std::uint64_t{2}));
  EXPECT_EQ(total(kernels, "total_ns"), Cell(std::int64_t{32}));
  EXPECT_EQ(total(kernels, "launch_delay_total_ns"), Cell(std::int64_t{15}));
  EXPECT_EQ(total(kernels, "launch_delay_mean_ns"), Cell(5.0));
  EXPECT_EQ(total(kernels, "launch_delay_max_ns"), Cell(std::int64_t{9}));
}

TEST(JoinedReports, MeansOfStepsAreThoseOfAllSteps) {
  const AnalysisReport steps = of_both([](const Trace& trace) {
    return *steps_report(trace, step_breakdown(trace, {.keep_tail_steps = true}));
  });
  EXPECT_EQ(total(steps, "steps"), Cell(std::uint64_t{2}));
  EXPECT_EQ(total(steps, "duration_ns"), Cell(200.0));
  EXPECT_EQ(total(steps, "kernel_ns"), Cell((20.0 + 12) / 2));
  EXPECT_EQ(total(steps, "duration_min_ns"), Cell(std::int64_t{100}));
  EXPECT_EQ(total(steps, "duration_max_ns"), Cell(std::int64_t{300}));
  EXPECT_EQ(total(steps, "dropped_steps"), Cell(std::uint64_t{0}));
}

}  // namespace
}  // namespace tbtrace
