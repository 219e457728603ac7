#include "dialects/crossings.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialects/places_by_definition.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::dialects {
namespace {

using fixtures::add;
using fixtures::finished;
using fixtures::Range;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// Rows that were moved, with their lanes, and rows that were shortened, with their durations.
struct Outcome {
  std::vector<std::pair<std::size_t, std::uint32_t>> moved;
  std::vector<std::pair<std::size_t, std::int64_t>> shortened;
};

Outcome outcome(const std::vector<Range>& ranges, Dialect dialect = Dialect::plugin,
                std::int64_t origin_ns = 0) {
  TraceBuilder builder;
  for (const Range& range : ranges) add(builder, range);
  const Trace trace = finished(builder);
  const Crossings crossings = find_crossings(trace, Roles(trace, dialect), origin_ns);
  EXPECT_EQ(crossing_pair(trace, crossings, origin_ns), "");
  Outcome outcome;
  for (const auto& move : crossings.moved) outcome.moved.emplace_back(index(move.event), move.lane);
  for (const auto& shorter : crossings.shortened) {
    outcome.shortened.emplace_back(index(shorter.event), shorter.duration_ns);
  }
  return outcome;
}

TEST(Crossings, AreNoneInAnEmptyTrace) {
  const Outcome none = outcome({});
  EXPECT_THAT(none.moved, IsEmpty());
  EXPECT_THAT(none.shortened, IsEmpty());
}

TEST(Crossings, AreNotWhatNestsOrTouches) {
  const Outcome none = outcome({{.start = 0, .duration = 100'000},
                                {.start = 0, .duration = 50'000},
                                {.start = 50'000, .duration = 50'000},
                                {.start = 50'000, .duration = 0},
                                {.start = 100'000, .duration = 10'000},
                                {.start = 40'000, .duration = 80'000, .thread = 2}});
  EXPECT_THAT(none.moved, IsEmpty());
  EXPECT_THAT(none.shortened, IsEmpty());
}

TEST(Crossings, MoveTheAnnotationAndNeverTheOperator) {
  const Range annotation = {.category = "user_annotation", .start = 0, .duration = 50'000};
  const Range op = {.start = 40'000, .duration = 50'000};
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    EXPECT_THAT(outcome({annotation, op}, dialect).moved, ElementsAre(Pair(0, 1)));
    EXPECT_THAT(outcome({op, annotation}, dialect).moved, ElementsAre(Pair(1, 1)));
    Range late = annotation;
    late.start = 60'000;
    EXPECT_THAT(outcome({op, late}, dialect).moved, ElementsAre(Pair(1, 1)));
  }
}

TEST(Crossings, MoveTheLaterOfTwoAlike) {
  EXPECT_THAT(
      outcome({{.start = 0, .duration = 50'000}, {.start = 40'000, .duration = 50'000}}).moved,
      ElementsAre(Pair(1, 1)));
  EXPECT_THAT(outcome({{.category = "kernel", .start = 0, .duration = 50'000},
                       {.category = "kernel", .start = 40'000, .duration = 50'000}})
                  .moved,
              ElementsAre(Pair(1, 1)));
}

TEST(Crossings, KeepWhatIsInsideTogetherIfItCan) {
  // The step crosses one operator of many; it alone moves.
  const Outcome all = outcome(
      {{.category = "user_annotation", .name = "ProfilerStep#1", .start = 0, .duration = 100'000},
       {.start = 10'000, .duration = 20'000},
       {.start = 12'000, .duration = 5'000},
       {.start = 90'000, .duration = 20'000}});
  EXPECT_THAT(all.moved, ElementsAre(Pair(0, 1)));
}

TEST(Crossings, UseAsManyLanesAsTheyNeed) {
  std::vector<Range> ranges;
  for (int row = 0; row < 40; ++row) ranges.push_back({.start = row * 1000, .duration = 100'000});
  const Outcome all = outcome(ranges);
  EXPECT_EQ(all.moved.size(), 39u);
  EXPECT_EQ(all.moved.back().second, 39u) << "each crosses all others";
}

TEST(Crossings, ComeToAnEndForTextMadeForThem) {
  std::vector<Range> ranges;
  for (int row = 0; row < 20'000; ++row) {
    ranges.push_back({.start = row * 1000, .duration = 100'000'000});
  }
  TraceBuilder builder;
  for (const Range& range : ranges) add(builder, range);
  const Trace trace = finished(builder);
  EXPECT_EQ(find_crossings(trace, Roles(trace, Dialect::plugin), 0).moved.size(), 19'999u);
}

TEST(Crossings, ThatAreRoundingOfTheWriterAreShortened) {
  // Epoch times in doubles are a quarter of a microsecond apart.
  constexpr std::int64_t kEpoch = 1'790'857'026'000'000'000;
  const Outcome child =
      outcome({{.start = kEpoch, .duration = 10'000}, {.start = kEpoch + 5'000, .duration = 5'200}},
              Dialect::plugin, kEpoch);
  EXPECT_THAT(child.moved, IsEmpty());
  EXPECT_THAT(child.shortened, ElementsAre(Pair(1, 5'000)));
  const Outcome first = outcome(
      {{.start = kEpoch, .duration = 10'200}, {.start = kEpoch + 10'000, .duration = 9'000}},
      Dialect::plugin, kEpoch);
  EXPECT_THAT(first.moved, IsEmpty());
  EXPECT_THAT(first.shortened, ElementsAre(Pair(0, 10'000)));
  const Outcome more =
      outcome({{.start = kEpoch, .duration = 10'000}, {.start = kEpoch + 5'000, .duration = 5'400}},
              Dialect::plugin, kEpoch);
  EXPECT_THAT(more.moved, ElementsAre(Pair(1, 1)));
  EXPECT_THAT(more.shortened, IsEmpty());
}

TEST(Crossings, OfSumsThatAreRoundedUpAreShortened) {
  // 0.1 us + 0.2 us is a little more than 0.3 us.
  const Outcome child = outcome({{.start = 0, .duration = 300}, {.start = 100, .duration = 200}});
  EXPECT_THAT(child.moved, IsEmpty());
  EXPECT_THAT(child.shortened, ElementsAre(Pair(1, 199)));
  const Outcome next = outcome({{.start = 100, .duration = 200}, {.start = 300, .duration = 100}});
  EXPECT_THAT(next.moved, IsEmpty());
  EXPECT_THAT(next.shortened, ElementsAre(Pair(0, 199)));
}

TEST(Crossings, NeverShortenWork) {
  const auto work = [](std::int64_t start, std::int64_t duration) {
    return Range{.category = "kernel", .start = start, .duration = duration};
  };
  EXPECT_THAT(outcome({work(100, 200), work(300, 100)}).shortened, IsEmpty());
  EXPECT_THAT(outcome({work(0, 300), work(299, 100)}).shortened, IsEmpty());
  EXPECT_THAT(outcome({work(0, 300), work(299, 100)}).moved, ElementsAre(Pair(1, 1)));
}

}  // namespace
}  // namespace tbtrace::dialects
