// The table `critical_path`: traces whose path is known by hand.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/tables.h>

#include "analyses/path/path_trace.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class CriticalPathTest : public testing::Test, public analyses::PathTrace {
 protected:
  AnalysisReport path(OptionValues options = {}) {
    Result<AnalysisReport> report = make_table("critical_path", trace(), options);
    EXPECT_TRUE(report.ok()) << report.status().message();
    return *std::move(report);
  }

  /// Time on the path by kind and name; rows without any are left out.
  static std::map<std::pair<std::string, std::string>, std::int64_t> on_path(
      const AnalysisReport& report) {
    std::map<std::pair<std::string, std::string>, std::int64_t> found;
    for (const std::vector<Cell>& row : report.table.rows) {
      const std::int64_t ns = std::get<std::int64_t>(row[3]);
      if (ns > 0) found[{std::get<std::string>(row[1]), std::get<std::string>(row[2])}] = ns;
    }
    return found;
  }
};

TEST_F(CriticalPathTest, HostOnlyIsOneThread) {
  step(1, 0, 100'000);
  add(builder_, {.name = "aten::mm", .start = 10'000, .duration = 60'000});
  add(builder_, {.name = "other thread", .start = 0, .duration = 90'000, .thread = 2});
  EXPECT_THAT(on_path(path()), ElementsAre(Pair(Pair("code", "[between ranges]"), 40'000),
                                           Pair(Pair("operator", "aten::mm"), 60'000)));
}

TEST_F(CriticalPathTest, WaitLeadsToTheKernelAndItsLaunch) {
  step(1, 0, 100'000);
  kernel(10'000, 15'000, 70'000);
  wait(20'000, 68'000);
  const AnalysisReport report = path();
  EXPECT_THAT(on_path(report),
              ElementsAre(Pair(Pair("code", "[between ranges]"), 22'000),
                          Pair(Pair("kernel", "gemm"), 70'000),
                          Pair(Pair("launch", "cudaLaunchKernel"), 5'000),
                          Pair(Pair("synchronization", "cudaDeviceSynchronize"), 3'000)));
  EXPECT_EQ(std::get<std::int64_t>(report.totals.front().second), 100'000);
}

TEST_F(CriticalPathTest, ShortKernelThatNothingWaitsForHasSlack) {
  step(1, 0, 100'000);
  kernel(10'000, 15'000, 20'000);
  const AnalysisReport report = path();
  for (const std::vector<Cell>& row : report.table.rows) {
    if (std::get<std::string>(row[2]) != "gemm") continue;
    EXPECT_EQ(std::get<std::int64_t>(row[3]), 0);
    EXPECT_EQ(row[10], Cell(std::int64_t{20'000}));  // total_ns
    EXPECT_EQ(row[11], Cell(std::int64_t{65'000}));  // slack_ns
    return;
  }
  ADD_FAILURE() << "no row of the kernel";
}

TEST_F(CriticalPathTest, LateKernelIsUnexplained) {
  for (std::int64_t number = 0; number < 5; ++number) {
    const std::int64_t start = number * 1'000'000;
    const bool is_late = number == 3;
    step(number, start, 500'000);
    kernel(start + 10'000, start + 15'000 + (is_late ? 300'000 : 0), 100'000);
    wait(start + 20'000, is_late ? 398'000 : 98'000);
  }
  const AnalysisReport report = path({{"steps", StepRange{3, 3}}});
  EXPECT_THAT(on_path(report), testing::Contains(Pair(Pair("unexplained", "gemm"), 300'000)));
  EXPECT_THAT(report.notes,
              testing::Contains(HasSubstr("60.0 % of the critical path is unexplained")));
}

TEST_F(CriticalPathTest, BackwardThreadIsWaitedFor) {
  step(1, 0, 100'000);
  add(builder_, {.name = "aten::mm", .start = 0, .duration = 20'000});
  add(builder_, {.name = "autograd::engine::evaluate_function: MmBackward0",
                 .start = 25'000,
                 .duration = 30'000,
                 .thread = 2});
  add(builder_, {.name = "MmBackward0", .start = 60'000, .duration = 20'000, .thread = 2});
  add(builder_, {.name = "aten::add_", .start = 85'000, .duration = 15'000});
  EXPECT_THAT(
      on_path(path()),
      ElementsAre(
          Pair(Pair("code", "[between ranges]"), 15'000),
          Pair(Pair("operator", "MmBackward0"), 20'000),
          Pair(Pair("operator", "aten::add_"), 15'000), Pair(Pair("operator", "aten::mm"), 20'000),
          Pair(Pair("operator", "autograd::engine::evaluate_function: MmBackward0"), 30'000)));
}

TEST_F(CriticalPathTest, KernelWaitsForRoom) {
  step(1, 0, 500'000);
  kernel(10'000, 15'000, 300'000);
  kernel(20'000, 310'000, 100'000, 20);
  wait(30'000, 382'000);
  const auto found = on_path(path());
  EXPECT_EQ(found.at({"kernel", "gemm"}), 395'000);
  EXPECT_EQ(found.count({"unexplained", "gemm"}), 0);
}

TEST_F(CriticalPathTest, FullQueueHoldsUpTheHost) {
  constexpr std::int64_t kKernels = 900;
  constexpr std::int64_t kDepth = 300;
  constexpr std::int64_t kLength = 100'000;
  step(1, 0, (kKernels + 1) * kLength);
  for (std::int64_t number = 0; number < kKernels; ++number) {
    const std::int64_t start = 10'000 + number * kLength;
    const std::int64_t freed = 10'000 + (number - kDepth) * kLength;  // a kernel ended then
    const bool is_full = number > kDepth;
    kernel(is_full ? freed - 90'000 : number * 10, start, kLength - 1'000, analyses::kPathStream,
           is_full ? 90'500 : 5);
  }
  const auto found = on_path(path());
  EXPECT_GT(found.at({"synchronization", "cudaLaunchKernel"}) + found.at({"kernel", "gemm"}),
            kKernels / 2 * kLength);
}

TEST_F(CriticalPathTest, OneStepCannotBePredictedFromOthers) {
  step(1, 0, 100'000);
  EXPECT_THAT(path().notes, testing::Contains(HasSubstr("it has one step")));
}

}  // namespace
}  // namespace tbtrace
