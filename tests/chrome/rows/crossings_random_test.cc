// Random ranges on random tracks: what is left on a place never crosses, whatever reader adds it
// up.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chrome/rows/crossings.h"
#include "chrome/rows/crossings_by_steps.h"
#include "chrome/rows/places_by_definition.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;
using fixtures::random_rounds;

constexpr std::int64_t kRandomEpoch =
    1'790'857'026'123'456'789;  // where doubles hold quarters of a us

class RandomRanges {
 public:
  explicit RandomRanges(unsigned seed) : random_(seed) {
    constexpr std::array<std::int64_t, 5> kScales = {1, 7, 100, 1000, 123'456};
    constexpr std::array<std::int64_t, 3> kBases = {0, 5'000'000'001, kRandomEpoch};
    scale = kScales[below(kScales.size())];
    base = kBases[below(kBases.size())];
  }

  /// A range with ranges in it that nest; returns where the next one may start.
  void nest(std::string_view category, std::int64_t start, std::int64_t end, int depth) {
    add(builder, range(category, start, end - start));
    std::int64_t at = start;
    for (std::size_t child = depth > 0 ? below(4) : 0; child > 0 && at < end; --child) {
      const std::int64_t child_start = at + number(end - at + 1) / 2;
      const std::int64_t child_end = child_start + number(end - child_start + 1);
      nest(category, child_start, child_end, depth - 1);
      at = child_end;
    }
  }

  /// Work mostly stands on streams.
  void add_anywhere(std::string_view category) {
    const bool on_stream = category.starts_with("gpu") || category == "kernel";
    if (on_stream && below(8) != 0) thread = 7;
    const std::int64_t start = number(60);
    add(builder, range(category, start, below(5) == 0 ? 0 : number(30)));
  }

  /// A range at time 0 elsewhere, so that times are not brought near 0.
  void stay_far() { add(builder, {.name = "0", .thread = 3}); }

  /// Times that are far apart for doubles too.
  void spread() { scale = below(2) == 0 ? 1000 : 123'456; }

  std::string_view any_category() {
    constexpr std::array<std::string_view, 10> kCategories = {
        "cpu_op",       "cpu_op",   "user_annotation", "python_function",     "cuda_runtime",
        "cuda_runtime", "overhead", "kernel",          "gpu_user_annotation", "gpu_memcpy"};
    return kCategories[below(kCategories.size())];
  }

  std::size_t below(std::size_t limit) { return random_() % limit; }
  std::int64_t number(std::int64_t limit) {
    return static_cast<std::int64_t>(below(static_cast<std::size_t>(limit)));
  }

  std::int64_t thread = 1;
  std::int64_t base;
  std::int64_t scale;
  TraceBuilder builder;

 private:
  fixtures::Range range(std::string_view category, std::int64_t start, std::int64_t duration) {
    // Sometimes a nanosecond off, as rounding leaves it.
    const std::int64_t shift = scale > 1 && below(6) == 0 ? number(3) - 1 : 0;
    const std::int64_t length = std::max<std::int64_t>(0, duration * scale + (exact ? 0 : shift));
    constexpr std::array<std::string_view, 3> kNames = {"a", "ProfilerStep#1", "nccl:all_reduce"};
    return {.category = category,
            .name = category == "user_annotation" ? kNames[below(3)] : "a",
            .start = base + start * scale,
            .duration = length,
            .thread = thread};
  }

  std::mt19937 random_;

 public:
  bool exact = false;  ///< no nanosecond is off
};

struct Found {
  Trace trace;
  Crossings crossings;
  std::int64_t origin_ns;
  Dialect dialect;
};

Found found(RandomRanges& ranges, Dialect dialect) {
  Trace trace = finished(ranges.builder);
  const Roles roles(trace, dialect);
  const std::int64_t origin = trace.first_time_ns() / 1'000'000 * 1'000'000;
  Crossings crossings = find_crossings(trace, roles, origin);
  return {std::move(trace), std::move(crossings), origin, dialect};
}

Dialect dialect_of(unsigned seed) { return seed % 2 == 0 ? Dialect::plugin : Dialect::kineto; }

TEST(CrossingsRandom, LeaveNothingThatCrosses) {
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    RandomRanges ranges(seed);
    for (std::size_t count = 1 + ranges.below(24); count > 0; --count) {
      ranges.thread = 1 + ranges.number(2);
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(crossing_pair(all.trace, all.crossings, all.origin_ns, all.dialect), "")
        << "seed " << seed;
  }
}

TEST(CrossingsRandom, LeaveNothingThatCrossesWhereMostNest) {
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    RandomRanges ranges(seed);
    for (int root = 0; root < 3; ++root) ranges.nest("cpu_op", root * 20, root * 20 + 20, 4);
    for (std::size_t count = ranges.below(4); count > 0; --count) {
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(crossing_pair(all.trace, all.crossings, all.origin_ns, all.dialect), "")
        << "seed " << seed;
  }
}

TEST(CrossingsRandom, LeaveNothingThatCrossesInADenseHeap) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    RandomRanges ranges(seed);
    ranges.scale = seed % 2 == 0 ? 1 : 1000;
    for (int count = 0; count < 250; ++count) {
      ranges.add_anywhere(seed % 3 == 0 ? "cpu_op" : ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(crossing_pair(all.trace, all.crossings, all.origin_ns, all.dialect), "")
        << "seed " << seed;
  }
}

TEST(CrossingsRandom, LeaveNothingThatCrossesFarFrom0) {
  std::size_t shortened = 0;
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    RandomRanges ranges(seed);
    ranges.stay_far();
    for (int root = 0; root < 3; ++root) {
      ranges.nest(ranges.any_category(), root * 20, root * 20 + 20, 4);
    }
    for (std::size_t count = ranges.below(4); count > 0; --count) {
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(crossing_pair(all.trace, all.crossings, all.origin_ns, all.dialect), "")
        << "seed " << seed;
    shortened += all.crossings.shortened.size();
  }
  EXPECT_GT(shortened, random_rounds(1000u));
}

/// As a reader of what was written finds it.
Trace written(const Found& all) {
  TraceBuilder builder;
  for (const auto& [place, ranges] : placed(all.trace, all.crossings)) {
    for (const Placed& range : ranges) {
      const Category& category = all.trace.category(range.event);
      add(builder, {.category = all.trace.string(category.name),
                    .name = all.trace.name(range.event),
                    .start = range.start_ns,
                    .duration = range.end_ns - range.start_ns,
                    .thread = static_cast<std::int64_t>(1000 * place.first + place.second)});
    }
  }
  return finished(builder);
}

TEST(CrossingsRandom, AreNoneTheSecondTime) {
  for (unsigned seed = 0; seed < random_rounds(6000u); ++seed) {
    RandomRanges ranges(seed);
    if (seed % 3 == 0) ranges.stay_far();
    ranges.nest(ranges.any_category(), 0, 60, 5);
    for (std::size_t count = 1 + ranges.below(24); count > 0; --count) {
      ranges.thread = 1 + ranges.number(2);
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    const Trace again = written(all);
    const Roles roles(again, dialect_of(seed));
    const Crossings second = find_crossings(again, roles, all.origin_ns);
    ASSERT_EQ(second.moved.size(), 0u) << "seed " << seed;
    ASSERT_EQ(second.shortened.size(), 0u) << "seed " << seed;
  }
}

TEST(CrossingsRandom, MoveAndShortenNothingThatNests) {
  for (unsigned seed = 0; seed < random_rounds(2000u); ++seed) {
    RandomRanges ranges(seed);
    ranges.exact = true;
    ranges.scale = 1000;  // sums of whole microseconds are exact
    ranges.base = seed % 3 == 0 ? kRandomEpoch / 1000 * 1000 : 0;
    for (const std::string_view category : {"cpu_op", "kernel"}) {
      ++ranges.thread;
      for (int root = 0; root < 3; ++root) ranges.nest(category, root * 20, root * 20 + 20, 4);
    }
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(all.crossings.moved.size(), 0u) << "seed " << seed;
    ASSERT_EQ(all.crossings.shortened.size(), 0u) << "seed " << seed;
  }
}

TEST(CrossingsRandom, MoveNothingThatNestsWhateverItsNanoseconds) {
  for (unsigned seed = 0; seed < random_rounds(2000u); ++seed) {
    RandomRanges ranges(seed);
    ranges.exact = true;
    ranges.scale = 123'457;
    for (int root = 0; root < 3; ++root) ranges.nest("cpu_op", root * 20, root * 20 + 20, 4);
    const Found all = found(ranges, dialect_of(seed));
    ASSERT_EQ(all.crossings.moved.size(), 0u) << "seed " << seed;
    for (const Crossings::Shorter& shorter : all.crossings.shortened) {
      const std::int64_t cut = all.trace.events().duration_ns(shorter.event) - shorter.duration_ns;
      ASSERT_GE(cut, 1) << "seed " << seed;
      ASSERT_LE(cut, 6) << "seed " << seed << ": one for every range that ends with it";
    }
  }
}

TEST(CrossingsRandom, MoveOnlyWhatCrosses) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    RandomRanges ranges(seed);
    ranges.spread();
    for (std::size_t count = 1 + ranges.below(12); count > 0; --count) {
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    const auto unchanged = placed(all.trace, {});
    for (const Crossings::Move& move : all.crossings.moved) {
      bool crosses = false;
      for (const auto& [place, of_place] : unchanged) {
        const auto itself = std::find_if(of_place.begin(), of_place.end(),
                                         [&](const Placed& p) { return p.event == move.event; });
        if (itself == of_place.end()) continue;
        crosses = std::any_of(of_place.begin(), of_place.end(),
                              [&](const Placed& other) { return cross(*itself, other); });
      }
      ASSERT_TRUE(crosses) << "seed " << seed << ", event " << index(move.event);
    }
  }
}

TEST(CrossingsRandom, NeverMoveAnOperatorForAnAnnotation) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    RandomRanges ranges(seed);
    ranges.spread();
    ranges.exact = true;
    for (int root = 0; root < 3; ++root) ranges.nest("cpu_op", root * 20, root * 20 + 20, 4);
    for (std::size_t count = ranges.below(8); count > 0; --count) {
      ranges.add_anywhere("user_annotation");
    }
    const Found all = found(ranges, dialect_of(seed));
    for (const Crossings::Move& move : all.crossings.moved) {
      ASSERT_EQ(all.trace.kind(move.event), EventKind::user_annotation) << "seed " << seed;
    }
  }
}

TEST(CrossingsRandom, NeverShortenWork) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    RandomRanges ranges(seed);
    for (std::size_t count = 1 + ranges.below(16); count > 0; --count) {
      ranges.add_anywhere(ranges.any_category());
    }
    const Found all = found(ranges, dialect_of(seed));
    std::set<std::size_t> seen;
    for (const Crossings::Shorter& shorter : all.crossings.shortened) {
      ASSERT_FALSE(is_device_work(all.trace.kind(shorter.event))) << "seed " << seed;
      ASSERT_GE(shorter.duration_ns, 0) << "seed " << seed;
      ASSERT_LT(shorter.duration_ns, all.trace.events().duration_ns(shorter.event));
      ASSERT_TRUE(seen.insert(index(shorter.event)).second) << "told twice";
    }
    for (const Crossings::Move& move : all.crossings.moved) ASSERT_GE(move.lane, 1u);
  }
}

/// Deep nests with work in them, on tracks where ranges of all ranks cross.
Trace deep_trace(unsigned seed) {
  RandomRanges ranges(seed);
  if (seed % 4 == 0) ranges.stay_far();
  for (int root = 0; root < 3; ++root) {
    ranges.nest(ranges.any_category(), root * 20, root * 20 + 20, 5);
  }
  for (std::size_t count = 1 + ranges.below(60); count > 0; --count) {
    ranges.thread = 1 + ranges.number(2);
    ranges.add_anywhere(ranges.any_category());
  }
  return finished(ranges.builder);
}

TEST(CrossingsRandom, AreThoseOfStepsWithPlainLists) {
  std::size_t moved = 0;
  std::size_t shortened = 0;
  for (unsigned seed = 0; seed < random_rounds(20000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = deep_trace(seed);
    const Roles roles(trace, dialect_of(seed));
    const std::int64_t origin = trace.first_time_ns() / 1'000'000 * 1'000'000;
    const Crossings crossings = find_crossings(trace, roles, origin);
    const CrossingsBySteps expected(trace, roles, origin);
    if (expected.needs_more_lanes()) continue;
    std::map<EventId, std::uint32_t> lanes;
    for (const Crossings::Move& move : crossings.moved) lanes[move.event] = move.lane;
    std::map<EventId, std::int64_t> durations;
    for (const auto& shorter : crossings.shortened) durations[shorter.event] = shorter.duration_ns;
    ASSERT_EQ(lanes, expected.lanes());
    ASSERT_EQ(durations, expected.durations());
    moved += lanes.size();
    shortened += durations.size();
  }
  EXPECT_GT(moved, random_rounds(10000u));
  EXPECT_GT(shortened, random_rounds(10000u));
}

// Comparing all that are open takes many minutes here.
const std::int64_t kDeep = fixtures::many_rows<std::int64_t>(400'000);

TEST(Crossings, MuchWorkInADeepNestIsFoundInOnePass) {
  TraceBuilder builder;
  for (std::int64_t depth = 0; depth < kDeep; ++depth) {
    add(builder, {.name = "op", .start = depth, .duration = 5 * kDeep - 2 * depth});
  }
  for (std::int64_t number = 0; number < kDeep; ++number) {
    add(builder, {.category = "kernel", .name = "k", .start = kDeep + number, .duration = 1});
  }
  const Trace trace = finished(builder);
  const Crossings crossings = find_crossings(trace, Roles(trace, Dialect::plugin), 0);
  EXPECT_TRUE(crossings.moved.empty());
}

TEST(Crossings, ManyThatCrossADeepNestGiveWayInOnePass) {
  TraceBuilder builder;
  add(builder, {.name = "bottom", .start = 0, .duration = 10 * kDeep});
  for (std::int64_t depth = 1; depth <= kDeep; ++depth) {
    add(builder, {.category = "python_function",
                  .name = "f",
                  .start = depth,
                  .duration = 5 * kDeep - 2 * depth});
  }
  for (std::int64_t number = 0; number < kDeep; ++number) {
    add(builder, {.name = "late",
                  .start = 2 * kDeep + number,
                  .duration = 20 * kDeep - 2 * number});  // one in the other
  }
  const Trace trace = finished(builder);
  const Crossings crossings = find_crossings(trace, Roles(trace, Dialect::kineto), 0);
  EXPECT_EQ(crossings.moved.size(), static_cast<std::size_t>(kDeep));
}

}  // namespace
}  // namespace tbtrace::chrome
