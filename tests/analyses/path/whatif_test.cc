// The table `whatif`: recordings of which it is known what a change brings, or that it cannot be
// told.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/tables.h>

#include "analyses/path/path_trace.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kStep = 10'000'000;

class WhatIfTest : public testing::Test, public analyses::PathTrace {
 protected:
  static AnalysisReport whatif(const Trace& trace, const std::vector<std::string>& changes) {
    Result<AnalysisReport> report = make_table("whatif", trace, {{"changes", changes}});
    EXPECT_TRUE(report.ok()) << report.status().message();
    return *std::move(report);
  }
  static std::int64_t total(const AnalysisReport& report, std::string_view name) {
    for (const auto& [key, value] : report.totals) {
      if (key == name) return std::get<std::int64_t>(value);
    }
    ADD_FAILURE() << "no total " << name;
    return 0;
  }
  static std::string refusal(const AnalysisReport& report) {
    for (const auto& [key, value] : report.facts) {
      if (key != "refusal") continue;
      const auto* const text = std::get_if<std::string>(&value);
      return text == nullptr ? std::string() : *text;
    }
    return "no fact";
  }
  /// Four equal steps; `add` gets the start of each.
  template <typename Add>
  Trace steps(std::int64_t duration, const Add& add) {
    for (std::int64_t number = 0; number < 4; ++number) {
      step(number, number * kStep, duration);
      add(number * kStep);
    }
    return trace();
  }
};

TEST_F(WhatIfTest, IdleTimeOfAStreamIsNoDelay) {
  const Trace trace = steps(4'000'000, [&](std::int64_t start) {
    op("schedule", start, 3'000'000);
    kernel(start + 3'000'000, start + 3'005'000, 900'000);
    wait(start + 3'002'000, 906'000);
  });
  const AnalysisReport report = whatif(trace, {"operator:schedule x0.1"});
  EXPECT_EQ(total(report, "step_ns"), 4'000'000);
  EXPECT_EQ(total(report, "gain_ns"), 2'700'000);
  EXPECT_EQ(total(report, "predicted_ns"), 1'300'000);
}

TEST_F(WhatIfTest, BackwardEndsTheStep) {
  const Trace trace = steps(5'000'000, [&](std::int64_t start) {
    op("aten::mm", start, 1'000'000);
    op("autograd::engine::evaluate_function: MmBackward0", start + 1'010'000, 3'900'000, 2);
    op("MmBackward0", start + 1'011'000, 3'800'000, 2);
  });
  EXPECT_EQ(total(whatif(trace, {"operator:MmBackward0 x0.5"}), "gain_ns"), 1'900'000);
  EXPECT_EQ(total(whatif(trace, {"operator:aten::mm x0"}), "gain_ns"), 1'000'000);
}

TEST_F(WhatIfTest, BlockingLaunchesWaitForTheirKernels) {
  const Trace trace = steps(3'000'000, [&](std::int64_t start) {
    kernel(start, start + 5'000, 1'000'000, analyses::kPathStream, 1'010'000);
    kernel(start + 1'020'000, start + 1'025'000, 1'000'000, analyses::kPathStream, 1'010'000);
  });
  EXPECT_EQ(total(whatif(trace, {"kernel:gemm x0.5"}), "gain_ns"), 1'000'000);
}

TEST_F(WhatIfTest, WhatPollsWaitsForIsUnknown) {
  const Trace trace = steps(3'000'000, [&](std::int64_t start) {
    kernel(start, start + 5'000, 2'000'000);
    for (std::int64_t at = 10'000; at < 2'000'000; at += 50'000) {
      call("cudaEventQuery", start + at, 40'000);
    }
  });
  EXPECT_THAT(refusal(whatif(trace, {"kernel:gemm x0.5"})), HasSubstr("is unexplained"));
}

TEST_F(WhatIfTest, WaitsWithoutTheWorkAreRefused) {
  const Trace trace = steps(1'000'000, [&](std::int64_t start) { wait(start, 900'000); });
  EXPECT_THAT(refusal(whatif(trace, {"launch x0.5"})), HasSubstr("and not the work"));
}

// A call's number was taken for a thread's.
TEST_F(WhatIfTest, OtherThreadsMayWait) {
  const Trace trace = steps(3'000'000, [&](std::int64_t start) {
    for (std::int64_t number = 0; number < 50; ++number) op("aten::add", start + number * 10, 5);
    kernel(start + 1'000, start + 5'000, 1'000'000);
    call("cudaStreamSynchronize", start + 10'000, 1'000'000, 3);
    op("aten::mm", start + 1'010'000, 500'000, 3);
    kernel(start + 1'500'000, start + 1'505'000, 1'000'000);
  });
  EXPECT_EQ(refusal(whatif(trace, {"launch x1"})), "");
}

/// Eight steps of 20 ms in which a thread waits for a batch and works on it for `work` ns.
class LoaderTest : public WhatIfTest {
 protected:
  static constexpr const char* kTakesBatch =
      "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  static constexpr std::int64_t kStep = 20'000'000;

  Trace loader_trace(std::int64_t work) {
    for (std::int64_t number = 0; number < 8; ++number) {
      const std::int64_t start = number * kStep;
      step(number, start, kStep);
      op(kTakesBatch, start, kStep - work);
      op("aten::mm", start + kStep - work, work);
    }
    return trace();
  }
};

TEST_F(LoaderTest, FasterOperatorsOnlyWaitLonger) {
  const Trace trace = loader_trace(4'000'000);
  // But for the first step: what the processes did before it is not recorded.
  EXPECT_EQ(total(whatif(trace, {"operator:aten::mm x0"}), "gain_ns"), 4'000'000 / 8);
  // Operators five times as slow take 20 ms, as the processes do: only the first step is longer.
  EXPECT_EQ(total(whatif(trace, {"operator:aten::mm x5"}), "gain_ns"), -16'000'000 / 8);
  EXPECT_EQ(total(whatif(trace, {"operator:aten::mm x10"}), "predicted_ns"),
            40'000'000 + 16'000'000 / 8);
  // A faster loader is one until the operators take longer.
  EXPECT_EQ(total(whatif(trace, {"data_loader x0.5"}), "predicted_ns"), 10'250'000);
  EXPECT_EQ(total(whatif(trace, {"data_loader x0"}), "predicted_ns"), 4'000'000);
}

TEST_F(LoaderTest, LoaderInTimeLimitsNothing) {
  const Trace trace = loader_trace(19'900'000);
  EXPECT_EQ(total(whatif(trace, {"operator:aten::mm x0.5"}), "gain_ns"), 9'950'000);
}

TEST_F(LoaderTest, RangeCoversProcessesThatRested) {
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    std::int64_t at = epoch * 120'000'000;
    for (std::int64_t number = 0; number < 10; ++number) {
      const std::int64_t wait = number == 0 ? 30'000'000 : 50'000;
      const std::int64_t end = at + wait + 9'000'000;
      step(epoch * 10 + number, at, end - at);
      op(kTakesBatch, at, wait);
      op("aten::mm", at + wait, 9'000'000);
      at = end;
    }
  }
  const AnalysisReport report = whatif(trace(), {"operator:aten::mm x0"});
  EXPECT_LE(total(report, "low_ns"), (30'000'000 + 9 * 50'000) / 10);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("the range covers both")));
}

TEST_F(LoaderTest, ShortWaitAfterLongTimeWithoutOneLimitsNothing) {
  for (std::int64_t number = 0; number < 20; ++number) {
    const std::int64_t start = number * kStep;
    const std::int64_t wait = number % 10 == 5 ? 2'000'000 : 100'000;
    step(number, start, kStep);
    op(kTakesBatch, start, wait);
    op("aten::mm", start + wait, kStep - wait);
  }
  EXPECT_EQ(total(whatif(trace(), {"operator:aten::mm x0.5"}), "gain_ns"),
            (20 * kStep - 18 * 100'000 - 2 * 2'000'000) / 40);
}

/// Steps whose thread does nothing from 2 to 9.02 ms, while another one works for 6 ms.
class OtherThreadTest : public WhatIfTest {
 protected:
  AnalysisReport report(std::int64_t other_starts) {
    const Trace trace = steps(10'000'000, [&](std::int64_t start) {
      op("aten::mm", start, 2'000'000);
      op("aten::sort", start + other_starts, 6'000'000, 3);
      op("aten::add", start + 9'020'000, 900'000);
    });
    return whatif(trace, {"operator:aten::mm x0.5"});
  }
};

TEST_F(OtherThreadTest, MayBeWaitedFor) {
  EXPECT_THAT(refusal(report(3'000'000)), HasSubstr("is unexplained"));
}

TEST_F(OtherThreadTest, IsNotWaitedForIfItEndsElsewhere) {
  EXPECT_EQ(total(report(0), "gain_ns"), 1'000'000);
}

TEST_F(WhatIfTest, StepsThatOverlapOnTheDeviceHaveOnePath) {
  for (std::int64_t number = 0; number < 4; ++number) {
    step(number, number * 1'000'000, 1'000'000);
    // Its kernel ends in the next step, whose host does not wait for it.
    kernel(number * 1'000'000 + 10'000, number * 1'000'000 + 600'000, 500'000);
  }
  const AnalysisReport report = whatif(trace(), {"kernel:gemm x0.5"});
  EXPECT_EQ(total(report, "gain_ns"), 25'000) << "100 us after the last host's end, by four steps";
}

TEST_F(WhatIfTest, SameWorkTakesTheSameTime) {
  const Trace trace = steps(2'000'000, [&](std::int64_t start) {
    op("aten::mm", start, 500'000 + start / 100);
    kernel(start + 600'000, start + 605'000, 1'000'000);
    wait(start + 700'000, 908'000);
  });
  for (const char* change : {"kernel:gemm x1", "launch x1", "operator:aten::mm x1"}) {
    const AnalysisReport report = whatif(trace, {change});
    EXPECT_EQ(total(report, "gain_ns"), 0);
    EXPECT_EQ(total(report, "predicted_ns"), total(report, "step_ns"));
  }
  // A time for each kernel; factors multiply.
  EXPECT_EQ(total(whatif(trace, {"kernel:gemm =400us"}), "gain_ns"), 600'000);
  EXPECT_EQ(total(whatif(trace, {"family:gemm x0.5", "kernel:gemm x0.5"}), "gain_ns"), 750'000);
  EXPECT_EQ(total(whatif(trace, {"family:gemm x0.5,kernel:gemm x0.5"}), "gain_ns"), 750'000);
}

}  // namespace
}  // namespace tbtrace
