#include "analyses/kernel_summary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::IsEmpty;
using testing::SizeIs;

void kernel(TraceBuilder& builder, std::string_view name, std::int64_t start,
            std::int64_t duration) {
  add(builder, {.category = "kernel", .name = name, .start = start, .duration = duration});
}

TEST(KernelSummary, HasKernelsOnly) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 10});
  add(builder, {.category = "gpu_memcpy", .name = "Memcpy", .start = 0, .duration = 10});
  kernel(builder, "gemm", 5, 4);
  const auto rows = kernel_summary(finished(builder));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].name, "gemm");
  TraceBuilder nothing;
  EXPECT_THAT(kernel_summary(finished(nothing)), IsEmpty());
}

// Against each name's kernels, looked up one after another.
TEST(KernelSummary, AddsUpEachName) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same at each run
  for (int round = 0; round < 50; ++round) {
    TraceBuilder builder;
    std::map<std::string, std::vector<std::int64_t>> durations;
    for (int row = 0; row < 60; ++row) {
      const std::string name = "k" + std::to_string(random() % 8);
      const auto duration = static_cast<std::int64_t>(random() % 5);
      kernel(builder, name, row * 10, duration);
      durations[name].push_back(duration);
    }
    const auto rows = kernel_summary(finished(builder));
    ASSERT_EQ(rows.size(), durations.size());
    for (std::size_t at = 0; at < rows.size(); ++at) {
      const std::vector<std::int64_t>& of_name = durations.at(rows[at].name);
      std::int64_t total = 0;
      for (const std::int64_t duration : of_name) total += duration;
      EXPECT_EQ(rows[at].count, of_name.size());
      EXPECT_EQ(rows[at].total_ns, total);
      EXPECT_EQ(rows[at].min_ns, *std::min_element(of_name.begin(), of_name.end()));
      EXPECT_EQ(rows[at].max_ns, *std::max_element(of_name.begin(), of_name.end()));
      if (at == 0) continue;
      const KernelRow& before = rows[at - 1];
      EXPECT_TRUE(before.total_ns > rows[at].total_ns ||
                  (before.total_ns == rows[at].total_ns && before.name < rows[at].name));
    }
  }
}

TEST(KernelSummary, SumsStayWithinTheirNumbers) {
  constexpr std::int64_t kLong = std::int64_t{1} << 62;
  TraceBuilder builder;
  for (int row = 0; row < 3; ++row) kernel(builder, "gemm", -kLong / 2, kLong - 1);
  const auto rows = kernel_summary(finished(builder));
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].total_ns, std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace tbtrace::analyses
