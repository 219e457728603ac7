#include "trace/launch_search.h"

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;

constexpr std::int64_t kLaunches = 10;  // of each process

/// Two processes with equal ids. Process 100 uses device 0, process 101 device 1; each kernel's
/// name is that of its process.
class TwoProcesses {
 public:
  void host(std::int64_t process, std::int64_t launch) {
    add(builder_, {.name = "op",
                   .start = 100 * launch,
                   .duration = 50,
                   .process = 100 + process,
                   .external_id = launch});
    add(builder_, {.category = "cuda_runtime",
                   .name = "launch",
                   .start = 100 * launch + 10 + process,
                   .duration = 5,
                   .process = 100 + process,
                   .external_id = launch,
                   .correlation = launch});
  }
  void kernel(std::int64_t process, std::int64_t launch, std::int64_t device) {
    add(builder_, {.category = "kernel",
                   .name = std::to_string(100 + process),
                   .start = 100 * launch + 30 + process,
                   .duration = 9,
                   .thread = 7,
                   .process = device,
                   .external_id = launch,
                   .correlation = launch});
  }
  void hosts(std::int64_t process) {
    for (std::int64_t launch = 1; launch <= kLaunches; ++launch) host(process, launch);
  }
  void kernels(std::int64_t process, std::int64_t device) {
    for (std::int64_t launch = 1; launch <= kLaunches; ++launch) kernel(process, launch, device);
  }

  void expect_launched() {
    const Trace trace = fixtures::finished(builder_);
    EXPECT_EQ(trace.links().launch_by_correlation, std::uint64_t{2 * kLaunches});
  }

  /// All work has a launch and an operator of its own process.
  void expect_linked() {
    const Trace trace = fixtures::finished(builder_);
    const auto process_of = [&](EventId event) {
      return event == EventId::none ? 0 : trace.track(trace.events().track(event)).process.number;
    };
    ASSERT_EQ(links_of(trace).device_work().size(), std::size_t{2 * kLaunches});
    for (const DeviceLink& link : links_of(trace).device_work()) {
      const std::string name(trace.name(link.activity));
      EXPECT_EQ(std::to_string(process_of(link.launch)), name);
      EXPECT_EQ(std::to_string(process_of(link.op)), name);
    }
    EXPECT_EQ(trace.links().launch_by_correlation, std::uint64_t{2 * kLaunches});
  }

 private:
  TraceBuilder builder_;
};

TEST(LaunchSearch, StaysInItsFileWhereFilesWereJoined) {
  for (const std::int64_t second_device : {1, 0}) {
    TwoProcesses trace;
    for (const std::int64_t process : {0, 1}) {
      trace.hosts(process);
      trace.kernels(process, process * second_device);
    }
    trace.expect_linked();
  }
}

TEST(LaunchSearch, StaysInItsFileWhereEachFileHasItsWorkFirst) {
  TwoProcesses trace;
  for (const std::int64_t process : {0, 1}) {
    trace.kernels(process, 0);
    trace.hosts(process);
  }
  trace.expect_linked();
}

TEST(LaunchSearch, TakesWorkThatStandsOutsideOfItsFile) {
  for (const bool is_work_first : {true, false}) {
    TwoProcesses trace;
    if (is_work_first) trace.kernel(0, 1, 0);
    trace.hosts(0);
    for (std::int64_t launch = 2; launch <= kLaunches; ++launch) trace.kernel(0, launch, 0);
    trace.hosts(1);
    for (std::int64_t launch = 2; launch <= kLaunches; ++launch) trace.kernel(1, launch, 1);
    if (!is_work_first) trace.kernel(0, 1, 0);
    trace.kernel(1, 1, 1);
    trace.expect_launched();
  }
}

TEST(LaunchSearch, FindsTheProcessOfADeviceWhereRowsAreSortedByTime) {
  TwoProcesses trace;
  for (std::int64_t launch = 1; launch <= kLaunches; ++launch) {
    for (const std::int64_t process : {0, 1}) trace.host(process, launch);
    for (const std::int64_t process : {0, 1}) trace.kernel(process, launch, process);
  }
  trace.expect_linked();
}

TEST(LaunchSearch, FindsTheProcessOfADeviceWhereAllWorkStandsAfterTheHosts) {
  TwoProcesses trace;
  for (const std::int64_t process : {0, 1}) trace.hosts(process);
  for (const std::int64_t process : {0, 1}) trace.kernels(process, process);
  trace.expect_linked();
}

TEST(LaunchSearch, FindsTheProcessOfADeviceWhereAllWorkStandsBeforeTheHosts) {
  TwoProcesses trace;
  for (const std::int64_t process : {0, 1}) trace.kernels(process, process);
  for (const std::int64_t process : {0, 1}) trace.hosts(process);
  trace.expect_linked();
}

TEST(LaunchSearch, GivesACallOfTheCorrelationIfThereIsOneWhateverTheOrderOfRows) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  for (int run = 0; run < fixtures::random_rounds(3000); ++run) {
    TraceBuilder builder;
    for (std::int64_t left = 2 + below(30); left > 0; --left) {
      const bool is_call = below(2) == 0;
      const std::int64_t process = is_call ? 100 + below(3) : below(3);
      for (std::int64_t again = 1 + below(4); again > 0; --again) {
        add(builder, {.category = is_call ? "cuda_runtime" : "kernel",
                      .start = below(40),
                      .duration = 1,
                      .process = process,
                      .correlation = below(5)});
      }
    }
    const Trace trace = fixtures::finished(builder);
    std::set<std::int64_t> called;
    for (const EventId event : trace.by_start()) {
      if (trace.kind(event) == EventKind::runtime) called.insert(trace.correlation(event));
    }
    called.erase(0);
    for (const DeviceLink& link : links_of(trace).device_work()) {
      const std::int64_t correlation = trace.correlation(link.activity);
      ASSERT_EQ(link.launch != EventId::none, called.contains(correlation)) << run;
      if (link.launch == EventId::none) continue;
      EXPECT_EQ(trace.correlation(link.launch), correlation) << run;
    }
  }
}

TEST(LaunchSearch, TakesTheWorkOfOneProcessThoughTheOtherHasNone) {
  TraceBuilder builder;
  for (const std::int64_t process : {100, 101}) {
    add(builder, {.category = "cuda_runtime", .duration = 2, .process = process, .correlation = 7});
  }
  const EventId kernel = add(builder, {.category = "kernel",
                                       .start = 50,
                                       .duration = 9,
                                       .thread = 7,
                                       .process = 0,
                                       .correlation = 7});
  const Trace trace = fixtures::finished(builder);
  ASSERT_EQ(links_of(trace).device_work().size(), 1u);
  EXPECT_EQ(links_of(trace).device_work().front().activity, kernel);
  EXPECT_NE(links_of(trace).device_work().front().launch, EventId::none);
}

/// One rank of a job: process `rank` with three calls, and its device, whose number is 100 more.
/// Correlations are the same in each rank.
struct JoinedRank {
  std::int64_t process = 0;
  std::int64_t first_ns = 0;

  void add_calls(TraceBuilder& builder) const {
    for (std::int64_t number = 1; number <= 3; ++number) {
      add(builder, {.category = "cuda_runtime",
                    .start = first_ns + number,
                    .duration = 1,
                    .process = process,
                    .correlation = number});
    }
  }
  void add_kernels(TraceBuilder& builder) const {
    for (std::int64_t number = 1; number <= 3; ++number) {
      add(builder, {.category = "kernel",
                    .start = first_ns + number + 10,
                    .duration = 5,
                    .process = process + 100,
                    .correlation = number});
    }
  }
};

void expect_own_launches(TraceBuilder& builder, std::size_t kernels) {
  const Trace trace = finished(builder);
  const auto process = [&](EventId event) {
    return trace.track(trace.events().track(event)).process.number;
  };
  std::size_t found = 0;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    ASSERT_NE(link.launch, EventId::none);
    EXPECT_EQ(process(link.activity), process(link.launch) + 100);
    ++found;
  }
  EXPECT_EQ(found, kernels);
}

TEST(LaunchSearch, GivesWorkOfJoinedRanksToTheirOwnCalls) {
  for (const std::int64_t later : {0, 1000, -1000}) {
    for (const bool device_first : {false, true}) {
      TraceBuilder builder;
      for (const std::int64_t rank : {1, 2, 3}) {
        const JoinedRank rows = {rank, 5000 + rank * later};
        if (device_first) rows.add_kernels(builder);
        rows.add_calls(builder);
        if (!device_first) rows.add_kernels(builder);
      }
      SCOPED_TRACE(testing::Message() << later << (device_first ? " device first" : ""));
      expect_own_launches(builder, 9);
    }
  }
}

}  // namespace
}  // namespace tbtrace
