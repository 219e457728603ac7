#include "chrome/plugin/link_numbers.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;

/// A trace with its numbers.
class Numbering {
 public:
  explicit Numbering(TraceBuilder& builder)
      : trace(finished(builder)), roles(trace, Dialect::plugin), numbers(trace, roles) {}

  std::uint32_t id(EventId event) const { return numbers.external_id(event); }
  std::uint32_t correlation(EventId event) const { return numbers.correlation(event); }

  Trace trace;
  Roles roles;
  LinkNumbers numbers;
};

EventId op(TraceBuilder& builder, std::int64_t start, std::int64_t duration,
           std::int64_t external_id = 0, std::string_view name = "aten::mm",
           std::string_view category = "cpu_op") {
  return add(builder, {.category = category,
                       .name = name,
                       .start = start,
                       .duration = duration,
                       .external_id = external_id});
}

EventId launch(TraceBuilder& builder, std::int64_t start, std::int64_t correlation = 0,
               std::int64_t external_id = 0) {
  return add(builder, {.category = "cuda_runtime",
                       .name = "cudaLaunchKernel",
                       .start = start,
                       .duration = 1,
                       .external_id = external_id,
                       .correlation = correlation});
}

EventId work(TraceBuilder& builder, std::int64_t start, std::int64_t correlation = 0,
             std::int64_t external_id = 0) {
  return add(builder, {.category = "kernel",
                       .name = "gemm",
                       .start = start,
                       .duration = 5,
                       .thread = 7,
                       .process = 0,
                       .external_id = external_id,
                       .correlation = correlation});
}

TEST(LinkNumbers, KeepSoundIds) {
  TraceBuilder builder;
  const EventId outer = op(builder, 0, 100, 17, "a");
  const EventId inner = op(builder, 10, 50, 18, "b");
  const EventId call = launch(builder, 20, 900, 18);
  const EventId kernel = work(builder, 200, 900, 18);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(outer), 17u);
  EXPECT_EQ(numbering.id(inner), 18u);
  EXPECT_EQ(numbering.id(call), 18u);
  EXPECT_EQ(numbering.id(kernel), 18u);
  EXPECT_EQ(numbering.correlation(call), 900u);
  EXPECT_EQ(numbering.correlation(kernel), 900u);
  EXPECT_TRUE(numbering.numbers.external_ids_kept());
  EXPECT_TRUE(numbering.numbers.correlations_kept());
}

TEST(LinkNumbers, GiveOperatorsWithoutAnIdOneThatIsFree) {
  TraceBuilder builder;
  const EventId with = op(builder, 0, 10, 5);
  const EventId without = op(builder, 20, 10);
  const EventId annotation = op(builder, 40, 10, 0, "mine", "user_annotation");
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(with), 5u);
  EXPECT_EQ((std::set<std::uint32_t>{0, 5, numbering.id(without), numbering.id(annotation)}).size(),
            4u);
  EXPECT_TRUE(numbering.numbers.external_ids_kept());
}

TEST(LinkNumbers, NumberAllAnewWhereIdsAreUnsound) {
  for (const std::int64_t bad :
       {std::int64_t{7}, std::int64_t{-1}, std::int64_t{1} << 32,
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    TraceBuilder builder;
    const EventId first = op(builder, 0, 10, 7);
    const EventId second = op(builder, 20, 10, bad);
    const Numbering numbering(builder);
    EXPECT_FALSE(numbering.numbers.external_ids_kept());
    EXPECT_NE(numbering.id(first), numbering.id(second));
    EXPECT_NE(numbering.id(first), 0u);
    EXPECT_NE(numbering.id(second), 0u);
  }
}

TEST(LinkNumbers, NumberAllAnewWhereIdsRepeatCorrelations) {
  TraceBuilder builder;
  const EventId outer = op(builder, 0, 100, 1, "a");
  const EventId inner = op(builder, 10, 50, 2, "b");
  std::vector<EventId> calls;
  for (std::int64_t row = 1; row < 12; ++row) {
    calls.push_back(launch(builder, 10 + row, row, row));
    work(builder, 200 + 10 * row, row, row);
  }
  const Numbering numbering(builder);
  EXPECT_FALSE(numbering.numbers.external_ids_kept());
  EXPECT_TRUE(numbering.numbers.correlations_kept());
  EXPECT_NE(numbering.id(outer), numbering.id(inner));
  for (const EventId call : calls) EXPECT_EQ(numbering.id(call), numbering.id(inner));
}

TEST(LinkNumbers, NumberLaunchesAnewWhereTheyShareACorrelation) {
  TraceBuilder builder;
  const EventId first = launch(builder, 0, 5);
  const EventId second = launch(builder, 10, 5);
  const EventId kernel = work(builder, 20, 5);
  const Numbering numbering(builder);
  EXPECT_FALSE(numbering.numbers.correlations_kept());
  EXPECT_NE(numbering.correlation(first), numbering.correlation(second));
  EXPECT_EQ(numbering.correlation(kernel), numbering.correlation(first));
  EXPECT_NE(numbering.correlation(first), 0u);
}

TEST(LinkNumbers, NumberLaunchesAnewWhereArrowsJoinThem) {
  TraceBuilder builder;
  const EventId call = launch(builder, 0);
  const EventId kernel = work(builder, 20, 9);
  fixtures::add_arrow_end(builder, 3, true, 1, 1, 0);
  fixtures::add_arrow_end(builder, 3, false, 0, 7, 20);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.correlation(call), numbering.correlation(kernel));
  EXPECT_NE(numbering.correlation(call), 0u);
  EXPECT_FALSE(numbering.numbers.correlations_kept());
}

TEST(LinkNumbers, ThatAreNewDoNotEqualTheOthers) {
  // Where they do, readers take External ids for copies of correlations.
  for (const bool same_id : {false, true}) {
    for (const bool same_correlation : {false, true}) {
      TraceBuilder builder;
      for (std::int64_t row = 1; row < 20; ++row) {
        const std::int64_t correlation = same_correlation ? row % 3 + 1 : row;
        op(builder, row * 100, 50, same_id ? 5 : row + 1000);
        launch(builder, row * 100 + 10, correlation);
        work(builder, row * 100 + 20, correlation);
      }
      const Numbering numbering(builder);
      EXPECT_EQ(numbering.numbers.external_ids_kept(), !same_id);
      EXPECT_EQ(numbering.numbers.correlations_kept(), !same_correlation);
      for (std::size_t row = 0; row < numbering.trace.events().size(); ++row) {
        const auto event = static_cast<EventId>(row);
        EXPECT_TRUE(numbering.id(event) == 0 ||
                    numbering.id(event) != numbering.correlation(event));
      }
    }
  }
}

TEST(LinkNumbers, GiveLaunchesToTheInnermostOperator) {
  TraceBuilder builder;
  op(builder, 0, 100, 0, "a");
  const EventId inner = op(builder, 10, 50, 0, "b");
  op(builder, 12, 20, 0, "mine", "user_annotation");
  const EventId call = launch(builder, 15, 4);
  const EventId alone = launch(builder, 500);
  const EventId kernel = work(builder, 90, 4);
  const EventId orphan = work(builder, 95, 77);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(call), numbering.id(inner));
  EXPECT_EQ(numbering.id(kernel), numbering.id(inner));
  EXPECT_EQ(numbering.id(alone), 0u);
  EXPECT_EQ(numbering.id(orphan), 0u);
}

TEST(LinkNumbers, GiveLaunchesOfAnAnnotationToTheOperatorAround) {
  TraceBuilder builder;
  const EventId outer = op(builder, 0, 100, 1, "a");
  op(builder, 10, 50, 2, "mine", "user_annotation");
  const EventId call = launch(builder, 15, 4, 2);
  work(builder, 90, 4, 2);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(call), numbering.id(outer));
}

TEST(LinkNumbers, GiveLaunchesOfAStepToTheStep) {
  TraceBuilder builder;
  const EventId step = op(builder, 0, 100, 1, "ProfilerStep#1", "user_annotation");
  const EventId call = launch(builder, 15, 4);
  work(builder, 90, 4);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(call), numbering.id(step));
}

TEST(LinkNumbers, GiveTheLaunchesOfAMergedOperatorToItsChild) {
  // The plugin puts the child of the same name in the place of its parent.
  {
    TraceBuilder builder;
    op(builder, 0, 100, 1, "aten::mm");
    const EventId middle = op(builder, 20, 50, 2, "aten::mm");
    const EventId inner = op(builder, 30, 10, 3, "aten::mm");
    const EventId call = launch(builder, 5, 4, 1);
    work(builder, 90, 4, 1);
    const Numbering numbering(builder);
    EXPECT_EQ(numbering.id(call), numbering.id(inner));
    EXPECT_NE(numbering.id(middle), numbering.id(inner));
  }
  TraceBuilder builder;
  const EventId outer = op(builder, 0, 100, 1, "aten::mm");
  op(builder, 20, 10, 2, "aten::mm");
  op(builder, 40, 10, 3, "aten::mm");
  const EventId call = launch(builder, 5, 4, 1);
  work(builder, 90, 4, 1);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(call), numbering.id(outer)) << "of two children none is merged";
}

TEST(LinkNumbers, JoinACollectiveWithTheOperatorThatHoldsItAlone) {
  TraceBuilder builder;
  const EventId holder = op(builder, 0, 100, 1, "c10d::allreduce_");
  const EventId collective = op(builder, 10, 50, 2, "nccl:all_reduce", "user_annotation");
  const EventId call = launch(builder, 15, 4, 2);
  const EventId kernel = work(builder, 90, 4, 2);
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.id(collective), numbering.id(holder));
  EXPECT_EQ(numbering.id(call), numbering.id(collective));
  EXPECT_EQ(numbering.id(kernel), numbering.id(collective));
  EXPECT_FALSE(numbering.numbers.is_listed_collective(collective));
}

TEST(LinkNumbers, ListACollectiveWhoseOperatorLaunchesMore) {
  for (const bool second_collective : {false, true}) {
    TraceBuilder builder;
    const EventId holder = op(builder, 0, 100, 1, "c10d::allreduce_");
    const EventId collective = op(builder, 10, 50, 2, "nccl:all_reduce", "user_annotation");
    const EventId call = launch(builder, 15, 4, 2);
    work(builder, 90, 4, 2);
    if (second_collective) {
      op(builder, 70, 10, 3, "nccl:all_reduce", "user_annotation");
    } else {
      launch(builder, 75, 5, 1);
      work(builder, 190, 5, 1);
    }
    const Numbering numbering(builder);
    EXPECT_TRUE(numbering.numbers.is_listed_collective(collective));
    EXPECT_NE(numbering.id(collective), numbering.id(holder));
    EXPECT_EQ(numbering.id(call), numbering.id(collective));
  }
}

TEST(LinkNumbers, TellLaunchesThatAreMissing) {
  TraceBuilder builder;
  const EventId named = op(builder, 0, 100, 1, "a");
  const EventId kernel = work(builder, 200, 9, 1);
  const EventId unknown = work(builder, 300, 10, 55);
  launch(builder, 20, 11, 1);
  work(builder, 400, 11, 1);
  const Numbering numbering(builder);
  ASSERT_EQ(numbering.numbers.missing_launches().size(), 1u);
  EXPECT_EQ(numbering.numbers.missing_launches()[0].work, kernel);
  EXPECT_EQ(numbering.numbers.missing_launches()[0].op, named);
  EXPECT_EQ(numbering.id(kernel), 1u);
  EXPECT_EQ(numbering.id(unknown), 0u);
  EXPECT_NE(numbering.correlation(kernel), 0u);
}

TEST(LinkNumbers, OfMissingLaunchesAreUnique) {
  TraceBuilder builder;
  op(builder, 0, 100, 1, "a");
  const EventId first = work(builder, 200, 9, 1);
  const EventId second = work(builder, 300, 9, 1);
  const Numbering numbering(builder);
  EXPECT_NE(numbering.correlation(first), numbering.correlation(second));
  EXPECT_EQ(numbering.numbers.missing_launches().size(), 2u);
}

TEST(LinkNumbers, HideOperatorsThatAreTooDeepFromThePlugin) {
  TraceBuilder builder;
  std::vector<EventId> ops;
  for (int depth = 0; depth < 300; ++depth) {
    ops.push_back(op(builder, depth, 1000 - 2 * depth, depth + 1, depth % 2 == 0 ? "a" : "b"));
  }
  const EventId call = launch(builder, 400, 4, 300);
  work(builder, 2000, 4, 300);
  const Numbering numbering(builder);
  EXPECT_FALSE(numbering.numbers.too_deep(ops[179]));
  EXPECT_TRUE(numbering.numbers.too_deep(ops[180]));
  EXPECT_TRUE(numbering.numbers.too_deep(ops[299]));
  EXPECT_EQ(numbering.numbers.too_deep_count(), 120u);
  EXPECT_EQ(numbering.id(call), numbering.id(ops[179])) << "the innermost that it sees";
}

TEST(LinkNumbers, CountOnlyNodesForTheDepth) {
  TraceBuilder builder;
  EventId last = EventId::none;
  for (int depth = 0; depth < 300; ++depth) {
    last = op(builder, depth, 1000 - 2 * depth, 0, "mine", "user_annotation");
  }
  const EventId inner = op(builder, 400, 5);
  const Numbering numbering(builder);
  EXPECT_FALSE(numbering.numbers.too_deep(last));
  EXPECT_FALSE(numbering.numbers.too_deep(inner));
  EXPECT_EQ(numbering.numbers.too_deep_count(), 0u);
}

TEST(LinkNumbers, GiveWaitsTheCorrelationOfTheirCall) {
  TraceBuilder builder;
  const EventId call = launch(builder, 0, 5);
  const EventId again = launch(builder, 10, 5);  // so all are numbered anew
  const EventId wait = add(builder, {.category = "cuda_sync",
                                     .name = "Stream Sync",
                                     .start = 20,
                                     .thread = 7,
                                     .process = 0,
                                     .correlation = 5});
  const EventId other = add(builder, {.category = "cuda_sync",
                                      .name = "Stream Sync",
                                      .start = 30,
                                      .thread = 7,
                                      .process = 0,
                                      .correlation = 99});
  const Numbering numbering(builder);
  EXPECT_EQ(numbering.correlation(wait), numbering.correlation(call));
  EXPECT_NE(numbering.correlation(wait), numbering.correlation(again));
  EXPECT_EQ(numbering.correlation(other), 0u);
}

TEST(LinkNumbers, GiveOtherDeviceWorkTheCallOfItsOwnProcess) {
  TraceBuilder builder;
  std::vector<EventId> calls;
  std::vector<EventId> waits;
  for (const std::int64_t process : {1, 2}) {
    calls.push_back(add(builder, {.category = "cuda_runtime",
                                  .name = "cudaStreamSynchronize",
                                  .start = 10,
                                  .duration = 50,
                                  .process = process,
                                  .correlation = 5}));
    waits.push_back(add(builder, {.category = "cuda_sync",
                                  .name = "Stream Sync",
                                  .start = 12,
                                  .duration = 40,
                                  .thread = 7,
                                  .process = process,
                                  .correlation = 5}));
  }
  const Numbering numbering(builder);
  EXPECT_NE(numbering.correlation(calls[0]), numbering.correlation(calls[1]));
  EXPECT_EQ(numbering.correlation(waits[0]), numbering.correlation(calls[0]));
  EXPECT_EQ(numbering.correlation(waits[1]), numbering.correlation(calls[1]));
}

}  // namespace
}  // namespace tbtrace::chrome
