// What findings would gain where the device idles, by a replay of the steps.
#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>

#include "../path/path_trace.h"

namespace tbtrace::analyses {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kStep = 100'000;
constexpr std::int64_t kCopy = 30'000;
constexpr int kSteps = 5;

/// Steps of 100 us in which a device computes for 20 us and copies for 30 us.
class CopyingSteps : public PathTrace {
 public:
  /// Calls `fill(start)` for each of them.
  template <typename Fill>
  void each(Fill fill) {
    for (int number = 0; number < kSteps; ++number) {
      step(number, number * kStep, kStep);
      fill(number * kStep);
    }
  }

  void copy(std::int64_t launched, std::int64_t start, std::int64_t launch_duration) {
    ++correlation_;
    fixtures::add(builder_, {.category = "cuda_runtime",
                             .name = "cudaMemcpyAsync",
                             .start = launched,
                             .duration = launch_duration,
                             .correlation = correlation_});
    fixtures::add(builder_, {.category = "gpu_memcpy",
                             .name = "Memcpy HtoD (Pinned -> Device)",
                             .start = start,
                             .duration = kCopy,
                             .thread = kPathStream,
                             .process = 0,
                             .correlation = correlation_});
  }

  void load(std::int64_t start, std::int64_t duration) {
    fixtures::add(builder_, {.category = "user_annotation",
                             .name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                             .start = start,
                             .duration = duration});
  }

  Finding finding() {
    const Trace trace = std::move(builder_).finish();
    for (Finding& found : findings(trace)) {
      if (found.id == "exposed_copies") return std::move(found);
    }
    return {};
  }
};

TEST(StepReplay, WorkBesideTheHostGainsNothing) {
  CopyingSteps steps;
  steps.each([&](std::int64_t start) {
    steps.op("aten::mul", start, kStep);
    steps.kernel(start + 5'000, start + 10'000, 20'000);
    steps.copy(start + 30'000, start + 40'000, 2'000);
  });
  const Finding found = steps.finding();
  EXPECT_DOUBLE_EQ(found.share, kSteps * 30.0 / (4 * 100 + 60));
  EXPECT_EQ(found.gain_ns, 0);
  EXPECT_THAT(found.gain_how, HasSubstr("by a replay of the steps"));
  EXPECT_LT(found.own_share, 1e-6);
}

TEST(StepReplay, WorkThatTheHostWaitsForGainsItsTime) {
  CopyingSteps steps;
  steps.each([&](std::int64_t start) {
    steps.op("aten::mul", start, 50'000);
    steps.kernel(start + 5'000, start + 10'000, 20'000);
    steps.op("aten::copy_", start + 50'000, kStep - 50'000);
    steps.copy(start + 52'000, start + 55'000, 34'000);  // returns a microsecond after the copy
  });
  const Finding found = steps.finding();
  EXPECT_EQ(found.gain_ns, kCopy);
  EXPECT_THAT(found.gain_how, Not(HasSubstr("replay")));
}

/// The replay takes it as the thread's own work, but it may be a wait for the copy.
TEST(StepReplay, TimeWithoutRangesIsNoLimit) {
  CopyingSteps steps;
  steps.each([&](std::int64_t start) {
    steps.op("aten::mul", start, 45'000);
    steps.kernel(start + 5'000, start + 10'000, 20'000);
    steps.copy(start + 30'000, start + 40'000, 2'000);
  });
  const Finding found = steps.finding();
  EXPECT_EQ(found.gain_ns, kCopy);
  EXPECT_THAT(found.gain_how, Not(HasSubstr("replay")));
}

/// Also where it is an annotation: a thread that loads data works.
TEST(StepReplay, TheDataLoaderIsALimit) {
  CopyingSteps steps;
  steps.each([&](std::int64_t start) {
    steps.load(start, 55'000);
    steps.op("aten::mul", start + 55'000, 45'000);
    steps.kernel(start + 56'000, start + 60'000, 20'000);
    steps.copy(start + 62'000, start + 68'000, 2'000);
  });
  EXPECT_EQ(steps.finding().gain_ns, 0);
}

/// A device that is busy limits the steps, whatever its launches look like.
TEST(StepReplay, BusyDeviceGainsWhatItsWorkTakes) {
  CopyingSteps steps;
  steps.each([&](std::int64_t start) {
    steps.op("aten::mul", start, kStep);
    steps.kernel(start, start + 1'000, 69'000);
    steps.copy(start + 60'000, start + 70'000, 2'000);
  });
  EXPECT_EQ(steps.finding().gain_ns, kCopy);
}

}  // namespace
}  // namespace tbtrace::analyses
