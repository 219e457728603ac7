#include "chrome/plugin/arrows.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::finished;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr Arrows::Kind kLaunch = Arrows::Kind::launch;
constexpr Arrows::Kind kBackward = Arrows::Kind::forward_backward;

/// Times in microseconds.
EventId add_range(TraceBuilder& builder, fixtures::Range range) {
  range.start *= 1000;
  range.duration *= 1000;
  return fixtures::add(builder, range);
}

Arrows arrows_of(TraceBuilder& builder) { return make_arrows(finished(builder), {}, 0); }

/// Pairs of rows that arrows of a kind join; every arrow has two ends with an id of its own.
std::vector<std::pair<std::size_t, std::size_t>> pairs(const Arrows& arrows, Arrows::Kind kind) {
  std::map<std::uint32_t, std::pair<EventId, EventId>> by_id;
  for (const Arrows::End& end : arrows.ends) {
    if (end.kind != kind) continue;
    auto& [start, finish] = by_id.try_emplace(end.id, EventId::none, EventId::none).first->second;
    EventId& mine = end.start ? start : finish;
    EXPECT_EQ(mine, EventId::none) << "id " << end.id << " is used twice";
    mine = end.event;
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& [id, both] : by_id) pairs.emplace_back(index(both.first), index(both.second));
  for (std::size_t row = 1; row < arrows.ends.size(); ++row) {
    EXPECT_LE(index(arrows.ends[row - 1].event), index(arrows.ends[row].event))
        << "sorted by event";
  }
  return pairs;
}

void add_backward_end(TraceBuilder& builder, std::int64_t id, bool start, std::int64_t thread,
                      std::int64_t time) {
  FlowEnd end;
  end.id = id;
  end.time_ns = time * 1000;
  end.track = fixtures::track(builder, 1, thread);
  end.type = FlowEnd::Type::forward_backward;
  end.start = start;
  builder.add_flow(end);
}

TEST(Arrows, GoFromLaunchesToTheirWork) {
  TraceBuilder builder;
  const auto launch = [&](std::int64_t start, std::int64_t correlation) {
    add_range(
        builder,
        {.category = "cuda_runtime", .start = start, .duration = 2, .correlation = correlation});
  };
  const auto work = [&](std::int64_t start, std::int64_t correlation) {
    add_range(builder, {.category = "kernel",
                        .start = start,
                        .duration = 9,
                        .thread = 7,
                        .process = 0,
                        .correlation = correlation});
  };
  launch(0, 5);   // 0
  work(10, 5);    // 1
  work(20, 5);    // 2: a graph
  work(30, 9);    // 3: no launch
  launch(40, 8);  // 4: no work
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(pairs(arrows, kLaunch), UnorderedElementsAre(std::pair(0, 1), std::pair(0, 2)));
  EXPECT_THAT(pairs(arrows, kBackward), IsEmpty());
  EXPECT_EQ(arrows.left_out, 0u);
}

TEST(Arrows, GoFromForwardToBackwardWithinAProcess) {
  // The joined traces of two ranks have every id twice.
  TraceBuilder builder;
  for (const std::int64_t process : {1, 2}) {
    for (const bool start : {true, false}) {
      const std::int64_t time = start ? process : process + 50;
      add_range(builder,
                {.start = time, .duration = 9, .process = process, .external_id = start ? 1 : 2});
      FlowEnd end;
      end.id = 1;
      end.time_ns = time * 1000;
      end.track = fixtures::track(builder, process, 1);
      end.type = FlowEnd::Type::forward_backward;
      end.start = start;
      builder.add_flow(end);
    }
  }
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(pairs(arrows, kBackward), UnorderedElementsAre(std::pair(0, 1), std::pair(2, 3)));
  EXPECT_EQ(arrows.left_out, 0u);
}

TEST(Arrows, NeedRangesThatAreOpenForAMoment) {
  // Readers close a range before they look for the one at an arrow's end.
  for (const std::int64_t duration_ns : {0, 1}) {
    TraceBuilder builder;
    add_range(builder, {.category = "cuda_runtime", .duration = 5, .correlation = 5});
    fixtures::add(builder, {.category = "kernel",
                            .start = 9000,
                            .duration = duration_ns,
                            .process = 0,
                            .correlation = 5});
    EXPECT_THAT(arrows_of(builder).ends, IsEmpty());
  }
}

TEST(Arrows, DoNotLeadBackInTime) {
  TraceBuilder builder;
  add_range(builder, {.category = "cuda_runtime", .start = 10, .duration = 5, .correlation = 5});
  add_range(builder,
            {.category = "kernel", .start = 9, .duration = 5, .process = 0, .correlation = 5});
  EXPECT_THAT(arrows_of(builder).ends, IsEmpty());
}

TEST(Arrows, NeedRangesThatReadersOfMicrosecondsFind) {
  // Rounded, the second kernel ends with the first, and is taken to be inside it.
  TraceBuilder builder;
  const auto kernel = [&](std::int64_t start_ns, std::int64_t duration_ns) {
    fixtures::add(builder, {.category = "kernel",
                            .start = start_ns,
                            .duration = duration_ns,
                            .thread = 7,
                            .process = 0,
                            .correlation = start_ns});
    add_range(builder, {.category = "cuda_runtime", .duration = 1, .correlation = start_ns});
  };
  kernel(10'000, 5'200);
  kernel(15'200, 200);
  kernel(16'000, 800);
  EXPECT_THAT(pairs(arrows_of(builder), kLaunch),
              UnorderedElementsAre(std::pair(1, 0), std::pair(5, 4)));
}

TEST(Arrows, GoFromForwardToBackward) {
  TraceBuilder builder;
  add_range(builder, {.name = "aten::mul", .start = 10, .duration = 5});
  add_range(builder, {.name = "MulBackward0", .start = 50, .duration = 5, .thread = 2});
  add_backward_end(builder, 3, true, 1, 10);
  add_backward_end(builder, 3, false, 2, 50);
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(pairs(arrows, kBackward), UnorderedElementsAre(std::pair(0, 1)));
  EXPECT_EQ(arrows.left_out, 0u);
}

TEST(Arrows, WithoutAnOtherEndAreLeftOutAndCounted) {
  TraceBuilder builder;
  add_range(builder, {.start = 10, .duration = 5});
  add_range(builder, {.start = 50, .duration = 5, .thread = 2});
  add_backward_end(builder, 1, true, 1, 10);
  add_backward_end(builder, 2, false, 2, 50);
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(arrows.ends, IsEmpty());
  EXPECT_EQ(arrows.left_out, 2u);
}

TEST(Arrows, WithoutAnOperatorAtAnEndAreLeftOutAndCounted) {
  for (const std::int64_t time : {11, 9, 50}) {
    TraceBuilder builder;
    add_range(builder, {.start = 10, .duration = 5});
    add_range(builder, {.start = 50, .duration = 5, .thread = 2});
    add_backward_end(builder, 1, true, 1, time);
    add_backward_end(builder, 1, false, 2, 50);
    const Arrows arrows = arrows_of(builder);
    EXPECT_THAT(arrows.ends, IsEmpty()) << time;
    EXPECT_EQ(arrows.left_out, 2u);
  }
}

TEST(Arrows, WithAnIdThatIsUsedTwiceAreJoinedOnce) {
  TraceBuilder builder;
  add_range(builder, {.start = 10, .duration = 5});
  add_range(builder, {.start = 50, .duration = 5, .thread = 2});
  add_range(builder, {.start = 60, .duration = 5, .thread = 2});
  add_backward_end(builder, 1, true, 1, 10);
  add_backward_end(builder, 1, false, 2, 50);
  add_backward_end(builder, 1, false, 2, 60);
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(pairs(arrows, kBackward), UnorderedElementsAre(std::pair(0, 1)));
  EXPECT_EQ(arrows.left_out, 1u);
}

TEST(Arrows, OfBothKindsCountForThemselves) {
  TraceBuilder builder;
  add_range(builder, {.start = 10, .duration = 5});
  add_range(builder, {.start = 50, .duration = 5, .thread = 2});
  add_range(builder, {.category = "cuda_runtime", .start = 11, .duration = 2, .correlation = 7});
  add_range(builder,
            {.category = "kernel", .start = 20, .duration = 2, .process = 0, .correlation = 7});
  add_backward_end(builder, 7, true, 1, 10);
  add_backward_end(builder, 7, false, 2, 50);
  const Arrows arrows = arrows_of(builder);
  EXPECT_THAT(pairs(arrows, kBackward), UnorderedElementsAre(std::pair(0, 1)));
  EXPECT_THAT(pairs(arrows, kLaunch), UnorderedElementsAre(std::pair(2, 3)));
}

TEST(Arrows, AreNoneInAnEmptyTrace) {
  TraceBuilder builder;
  EXPECT_THAT(arrows_of(builder).ends, IsEmpty());
}

}  // namespace
}  // namespace tbtrace::chrome
