#include "analyses/compat/hta/queues.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;

void add_call(TraceBuilder& builder, std::int64_t start, std::int64_t correlation,
              std::string_view name = "cudaLaunchKernel") {
  add(builder, {.category = "cuda_runtime",
                .name = name,
                .start = start,
                .duration = 5,
                .correlation = correlation});
}

void add_activity(TraceBuilder& builder, std::int64_t start, std::int64_t correlation,
                  std::int64_t stream = 7) {
  const EventId event = add(builder, {.category = "kernel",
                                      .name = "k",
                                      .start = start,
                                      .duration = 10,
                                      .thread = stream,
                                      .correlation = correlation});
  builder.add_argument(event, Argument::stream, stream);
}

std::map<std::int64_t, QueueChanges> queues(TraceBuilder& builder) {
  const Trace trace = finished(builder);
  return hta_queues(trace, *hta_rows(trace), HtaLinks(trace));
}

TEST(HtaQueues, ChangesAreNotWeightedByTime) {
  TraceBuilder builder;
  add_call(builder, 0, 1);
  add_call(builder, 10, 2);
  add_activity(builder, 20, 1);
  add_activity(builder, 1000, 2);
  const QueueChanges changes = queues(builder).at(7);  // 1, 2, 1, 0
  EXPECT_EQ(changes.count, 4U);
  EXPECT_EQ(changes.mean, 1);
  EXPECT_DOUBLE_EQ(*changes.stddev, std::sqrt(2.0 / 3));
  EXPECT_EQ(changes.min, 0);
  EXPECT_EQ(changes.quartile_1, 0.75);
  EXPECT_EQ(changes.median, 1);
  EXPECT_EQ(changes.quartile_3, 1.25);
  EXPECT_EQ(changes.max, 2);
}

TEST(HtaQueues, ACallBeforeAnActivityAtTheSameTime) {
  TraceBuilder builder;
  add_call(builder, 0, 1);
  add_activity(builder, 10, 1);
  add_call(builder, 10, 2);
  add_activity(builder, 30, 2);
  const QueueChanges changes = queues(builder).at(7);
  EXPECT_EQ(changes.max, 2);
  EXPECT_EQ(changes.mean, 1);
}

TEST(HtaQueues, AnActivityBeforeItsCallMakesTheLengthNegative) {
  TraceBuilder builder;
  add_activity(builder, 10, 1);
  add_call(builder, 20, 1);
  const QueueChanges changes = queues(builder).at(7);
  EXPECT_EQ(changes.min, -1);
  EXPECT_EQ(changes.max, 0);
}

TEST(HtaQueues, ACallLaunchesOnEachStreamOfItsActivities) {
  TraceBuilder builder;
  add_call(builder, 0, 1);
  add_activity(builder, 10, 1, 7);
  add_activity(builder, 20, 1, 8);
  add_activity(builder, 30, 1, 8);
  const auto found = queues(builder);
  EXPECT_EQ(found.at(7).count, 2U);
  EXPECT_EQ(found.at(8).count, 4U);
  EXPECT_EQ(found.at(8).max, 2);
}

TEST(HtaQueues, OtherCallsAndActivitiesWithoutACallDoNotCount) {
  TraceBuilder builder;
  add_call(builder, 0, 1, "hipMemcpyWithStream");
  add_call(builder, 0, 2, "cudaGraphLaunch");
  add_call(builder, 0, 3, "cuLaunchKernelEx");
  add_call(builder, 0, 9);  // launches nothing
  for (const std::int64_t correlation : {1, 2, 3, 4}) {
    add_activity(builder, 10 * correlation, correlation);
  }
  EXPECT_EQ(queues(builder).at(7).count, 2U);
}

TEST(HtaQueues, TwoCallsWithACorrelationLeaveNone) {
  TraceBuilder builder;
  add_call(builder, 0, 1);
  add_call(builder, 5, 1);
  add_activity(builder, 10, 1);
  EXPECT_TRUE(queues(builder).empty());
}

TEST(HtaQueues, ACallWhoseActivityHasNoStreamLeavesNone) {
  TraceBuilder builder;
  add_call(builder, 0, 1);
  add_activity(builder, 10, 1);
  add_call(builder, 20, 2);
  add(builder, {.category = "cuda_sync", .name = "Event Sync", .start = 30, .correlation = 2});
  EXPECT_TRUE(queues(builder).empty());
}

TEST(HtaQueues, OneChangeHasNoStandardDeviation) {
  const QueueChanges changes = summary_of_changes({3});
  EXPECT_EQ(changes.count, 1U);
  EXPECT_FALSE(changes.stddev.has_value());
  EXPECT_EQ(changes.quartile_1, 3);
  EXPECT_EQ(changes.median, 3);
  EXPECT_EQ(changes.quartile_3, 3);
}

}  // namespace
}  // namespace tbtrace::analyses
