#include "trace/call_tree.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"
#include "trace/self_times.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;

TEST(CallTree, GivesTheParentWhatItsChildrenLeave) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.start = 0, .duration = 100});
  const EventId first = add(builder, {.start = 10, .duration = 20});
  const EventId inner = add(builder, {.start = 12, .duration = 5});
  const EventId second = add(builder, {.start = 40, .duration = 60});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(tree.parent(outer), EventId::none);
  EXPECT_EQ(tree.parent(first), outer);
  EXPECT_EQ(tree.parent(inner), first);
  EXPECT_EQ(tree.parent(second), outer);
  EXPECT_EQ(times.ns(outer), 20);
  EXPECT_EQ(times.ns(first), 15);
  EXPECT_EQ(times.ns(inner), 5);
  EXPECT_EQ(times.ns(second), 60);
  EXPECT_THAT(times.busy_ns(), ElementsAre(100));
  EXPECT_THAT(tree.ranges(), ElementsAre(outer, first, inner, second));
}

TEST(CallTree, GivesOverlapToTheRangeThatStartedLast) {
  TraceBuilder builder;
  const EventId first = add(builder, {.start = 0, .duration = 10});
  const EventId late = add(builder, {.start = 4, .duration = 16});
  const EventId within_both = add(builder, {.start = 6, .duration = 2});
  const EventId after_the_first = add(builder, {.start = 12, .duration = 1});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(times.ns(first), 4);
  EXPECT_EQ(times.ns(late), 13);
  EXPECT_EQ(times.ns(within_both), 2);
  EXPECT_EQ(tree.parent(late), EventId::none) << "it goes on when the first has ended";
  EXPECT_EQ(tree.parent(within_both), late);
  EXPECT_EQ(tree.parent(after_the_first), late);
  EXPECT_THAT(times.busy_ns(), ElementsAre(20));
}

TEST(CallTree, GivesTheRestBackToAnOuterRangeThatOutlastsTheOverlap) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.start = 0, .duration = 20});
  const EventId early = add(builder, {.start = 1, .duration = 9});
  const EventId late = add(builder, {.start = 5, .duration = 10});
  const EventId last = add(builder, {.start = 16, .duration = 1});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(times.ns(outer), 1 + 1 + 3);
  EXPECT_EQ(times.ns(early), 4);
  EXPECT_EQ(times.ns(late), 10);
  EXPECT_EQ(tree.parent(last), outer);
}

TEST(CallTree, PutsWhatAWithStatementOpensBesideTheCallThatOpensIt) {
  TraceBuilder builder;
  const EventId train = add(builder, {.category = "python_function", .start = 0, .duration = 100});
  const EventId enter = add(builder, {.category = "python_function", .start = 10, .duration = 5});
  const EventId opened = add(builder, {.category = "user_annotation", .start = 12, .duration = 50});
  const EventId op = add(builder, {.category = "cpu_op", .start = 20, .duration = 10});
  const EventId exit = add(builder, {.category = "python_function", .start = 60, .duration = 5});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(tree.parent(enter), train);
  EXPECT_EQ(tree.parent(opened), train);
  EXPECT_EQ(tree.parent(op), opened);
  EXPECT_EQ(tree.parent(exit), train);
  EXPECT_EQ(times.ns(enter), 2);
  EXPECT_EQ(times.ns(opened), 8 + 30);
  EXPECT_EQ(times.ns(exit), 5);
  EXPECT_EQ(times.ns(train), 10 + 35);
}

TEST(CallTree, LeavesALaunchInTheOperatorThatItStartedInThoughItEndsLater) {
  TraceBuilder builder;
  const EventId around = add(builder, {.category = "cpu_op", .start = 0, .duration = 100});
  const EventId op = add(builder, {.category = "cpu_op", .start = 10, .duration = 10});
  const EventId launch = add(builder, {.category = "cuda_runtime", .start = 15, .duration = 6});
  const EventId next = add(builder, {.category = "cpu_op", .start = 30, .duration = 10});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  EXPECT_EQ(tree.parent(launch), op);
  EXPECT_EQ(tree.parent(op), around);
  EXPECT_EQ(tree.parent(next), around);
}

TEST(CallTree, DoesNotNestRangesThatOnlyTouch) {
  TraceBuilder builder;
  add(builder, {.start = 0, .duration = 10});
  const EventId next = add(builder, {.start = 10, .duration = 5});
  const EventId empty_at_end = add(builder, {.start = 15, .duration = 0});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  EXPECT_EQ(tree.parent(next), EventId::none);
  EXPECT_EQ(tree.parent(empty_at_end), EventId::none);
}

TEST(CallTree, PutsEmptyRangesInsideButNothingInsideThem) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.start = 0, .duration = 10});
  const EventId empty = add(builder, {.start = 5, .duration = 0});
  const EventId twin = add(builder, {.start = 5, .duration = 0});
  const EventId longer = add(builder, {.start = 5, .duration = 2});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(tree.parent(longer), outer);
  EXPECT_EQ(tree.parent(empty), longer) << "the longer of two that start together is the outer";
  EXPECT_EQ(tree.parent(twin), longer);
  EXPECT_EQ(times.ns(empty), 0);
  EXPECT_EQ(times.ns(longer), 2);
}

TEST(CallTree, NestsEqualRangesByTheirKind) {
  // In the file in the reverse of the order in which they are opened.
  TraceBuilder builder;
  const EventId launch = add(builder, {.category = "cuda_runtime", .start = 3, .duration = 4});
  const EventId op = add(builder, {.category = "cpu_op", .start = 3, .duration = 4});
  const EventId frame = add(builder, {.category = "python_function", .start = 3, .duration = 4});
  const EventId label = add(builder, {.category = "user_annotation", .start = 3, .duration = 4});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(tree.parent(label), EventId::none);
  EXPECT_EQ(tree.parent(frame), label);
  EXPECT_EQ(tree.parent(op), frame);
  EXPECT_EQ(tree.parent(launch), op);
  EXPECT_EQ(times.ns(launch), 4);
  EXPECT_EQ(times.ns(label) + times.ns(frame) + times.ns(op), 0);
}

TEST(CallTree, NestsEqualRangesOfOneKindByTheOrderOfTheProfiler) {
  TraceBuilder builder;
  const EventId inner = add(builder, {.start = 3, .duration = 4, .rank = 8});
  const EventId outer = add(builder, {.start = 3, .duration = 4, .rank = 7});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  EXPECT_EQ(tree.parent(inner), outer);
  EXPECT_EQ(tree.parent(outer), EventId::none);
}

TEST(CallTree, KeepsThreadsApart) {
  TraceBuilder builder;
  const EventId here = add(builder, {.start = 0, .duration = 10, .thread = 1});
  const EventId there = add(builder, {.start = 2, .duration = 3, .thread = 2});
  const EventId elsewhere = add(builder, {.start = 3, .duration = 1, .thread = 1, .process = 2});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(tree.parent(there), EventId::none);
  EXPECT_EQ(tree.parent(elsewhere), EventId::none);
  EXPECT_EQ(times.ns(here), 10);
  EXPECT_THAT(times.busy_ns(), ElementsAre(10, 3, 1));
}

TEST(CallTree, HoldsHostRangesOnly) {
  for (const std::string_view category :
       {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "overhead", "Trace",
        "cuda_sync"}) {
    TraceBuilder builder;
    const EventId op = add(builder, {.start = 0, .duration = 10});
    const EventId other = add(builder, {.category = category, .start = 2, .duration = 3});
    const EventId inside = add(builder, {.start = 3, .duration = 1});
    const Trace trace = finished(builder);
    const CallTree tree(trace);
    const SelfTimes times(trace, tree);
    EXPECT_EQ(tree.parent(other), EventId::none) << category;
    EXPECT_EQ(times.ns(other), 0) << category;
    EXPECT_EQ(tree.parent(inside), op) << category;
    EXPECT_EQ(times.ns(op), 9) << category;
    EXPECT_THAT(tree.ranges(), ElementsAre(op, inside)) << category;
  }
}

TEST(CallTree, CountsTimesBeforeZero) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.start = -50, .duration = 20});
  const EventId inner = add(builder, {.start = -40, .duration = 5});
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_EQ(times.ns(outer), 15);
  EXPECT_EQ(times.ns(inner), 5);
  EXPECT_THAT(times.busy_ns(), ElementsAre(20));
}

TEST(CallTree, OfAnEmptyTraceIsEmpty) {
  TraceBuilder builder;
  const Trace trace = finished(builder);
  const CallTree tree(trace);
  const SelfTimes times(trace, tree);
  EXPECT_TRUE(tree.ranges().empty());
  EXPECT_TRUE(times.busy_ns().empty());
}

}  // namespace
}  // namespace tbtrace
