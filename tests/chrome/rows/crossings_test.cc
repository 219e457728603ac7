#include "chrome/rows/crossings.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chrome/rows/places_by_definition.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
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
  EXPECT_EQ(crossing_pair(trace, crossings, origin_ns, dialect), "");
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

TEST(Crossings, OfSumsAreMendedInRangesOfEveryKindButWork) {
  // `gpu_annotation` is a shadow in a converted file, where it counts as a range of the host.
  for (const std::string_view category :
       {"cpu_op", "gpu_user_annotation", "gpu_annotation", "cuda_sync", "overhead"}) {
    SCOPED_TRACE(category);
    const auto range = [&](std::int64_t start, std::int64_t duration) {
      return Range{.category = category, .start = start, .duration = duration};
    };
    EXPECT_THAT(outcome({range(320, 20), range(240, 100)}).shortened, ElementsAre(Pair(0, 19)));
    EXPECT_THAT(outcome({range(35, 1), range(36, 4)}).shortened, ElementsAre(Pair(0, 0)));
    const Range fill = {.category = "gpu_memset", .start = 290, .duration = 60};
    EXPECT_THAT(outcome({range(280, 10), fill}).shortened, ElementsAre(Pair(0, 9)));
  }
}

TEST(Crossings, OfSumsStayWhereWorkWouldBeCutOff) {
  const Range next = {.category = "kernel", .start = 300, .duration = 100};
  for (const std::string_view category : {"cpu_op", "gpu_user_annotation"}) {
    SCOPED_TRACE(category);
    const Range around = {.category = category, .start = 100, .duration = 200};
    const auto work = [](std::int64_t start, std::int64_t duration) {
      return Range{.category = "kernel", .start = start, .duration = duration};
    };
    EXPECT_THAT(outcome({around, work(150, 150), next}).shortened, IsEmpty());
    EXPECT_THAT(outcome({around, work(150, 149), next}).shortened, ElementsAre(Pair(0, 199)));
    EXPECT_THAT(outcome({around, work(299, 0), next}).shortened, IsEmpty());
    EXPECT_THAT(outcome({around, work(298, 0), next}).shortened, ElementsAre(Pair(0, 199)));
    // Work is inside what is just as long, wherever it stands in the file.
    EXPECT_THAT(outcome({around, work(100, 200), next}).shortened, IsEmpty());
    EXPECT_THAT(outcome({work(100, 200), around, next}).shortened, IsEmpty());
  }
}

TEST(Crossings, OfSumsFarFrom0AreMendedByAsMuchAsDoublesNeed) {
  // Epoch times that stay as they are: doubles are 250 ns apart.
  constexpr std::int64_t kEpoch = 1'790'857'026'000'000'000;
  const auto range = [](std::int64_t start, std::int64_t duration) {
    return Range{.start = kEpoch + start, .duration = duration};
  };
  const Outcome next = outcome({range(130, 490), range(620, 400)});
  EXPECT_THAT(next.moved, IsEmpty());
  EXPECT_THAT(next.shortened, ElementsAre(Pair(0, 375))) << "0.25 us + 0.375 us is read as 0.5 us";
  const Outcome later = outcome({range(130, 480), range(620, 400)});
  EXPECT_THAT(later.shortened, ElementsAre(Pair(0, 375))) << "though it ends before the next one";
  const Outcome child = outcome({range(0, 1120), range(380, 740), range(890, 230)});
  EXPECT_THAT(child.shortened, ElementsAre(Pair(1, 625), Pair(2, 115)))
      << "the last one is read as after both, so it only has to stay inside in ns";
  const Outcome together = outcome({range(10, 50), range(60, 50), range(400, 50)});
  EXPECT_THAT(together.shortened, IsEmpty()) << "readers have the first two start together";
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
}  // namespace tbtrace::chrome
