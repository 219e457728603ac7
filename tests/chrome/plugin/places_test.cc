#include "chrome/plugin/places.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr std::int64_t kLargestSound = std::int64_t{1} << 53;

/// A trace with its places, and all that they were made from.
class Placing {
 public:
  explicit Placing(TraceBuilder& builder)
      : trace(finished(builder)),
        roles(trace, Dialect::plugin),
        devices(trace),
        crossings(find_crossings(trace, roles, 0)),
        places(trace, roles, devices, crossings) {}

  /// Process and thread of an event.
  std::pair<std::int64_t, std::int64_t> at(EventId event) const {
    const Place& place = places.of_event(event);
    return {place.process, place.thread};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const PlaceName& name : places.names()) {
      names.push_back((name.is_process ? "process " : "thread ") + name.name);
    }
    return names;
  }

  Trace trace;
  Roles roles;
  Devices devices;
  Crossings crossings;
  Places places;
};

/// An operator on the track of two ids that may be texts.
EventId add_at(TraceBuilder& builder, TrackKey process, TrackKey thread,
               std::string_view category = "cpu_op", std::int64_t start = 0) {
  EventRow row;
  row.start_ns = start;
  row.duration_ns = 50'000;
  row.name = builder.intern("a");
  row.track = builder.track(process, thread);
  row.category = builder.category(builder.intern(category));
  return builder.add_event(row);
}

TrackKey number(std::int64_t value) { return {value, StringId::empty}; }
TrackKey text(TraceBuilder& builder, std::string_view value) { return {0, builder.intern(value)}; }

TEST(Places, KeepSoundNumbers) {
  TraceBuilder builder;
  const EventId zero = add_at(builder, number(0), number(0));
  const EventId usual = add_at(builder, number(4242), number(4243));
  const EventId large = add_at(builder, number(kLargestSound), number(kLargestSound));
  const Placing placing(builder);
  EXPECT_THAT(placing.at(zero), Pair(0, 0));
  EXPECT_THAT(placing.at(usual), Pair(4242, 4243));
  EXPECT_THAT(placing.at(large), Pair(kLargestSound, kLargestSound));
  EXPECT_EQ(placing.places.renumbered(), 0u);
  EXPECT_THAT(placing.names(), IsEmpty());
}

TEST(Places, ReplaceNegativeAndHugeNumbers) {
  for (const std::int64_t unsound :
       {std::int64_t{-1}, kLargestSound + 1, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    TraceBuilder builder;
    const EventId event = add_at(builder, number(unsound), number(unsound));
    const EventId same_process = add_at(builder, number(unsound), number(5));
    const Placing placing(builder);
    EXPECT_GE(placing.at(event).first, 0);
    EXPECT_LE(placing.at(event).first, kLargestSound);
    EXPECT_GE(placing.at(event).second, 0);
    EXPECT_LE(placing.at(event).second, kLargestSound);
    EXPECT_EQ(placing.at(event).first, placing.at(same_process).first) << "one process stays one";
    EXPECT_EQ(placing.at(same_process).second, 5);
    EXPECT_EQ(placing.places.renumbered(), 2u);
    EXPECT_THAT(placing.names(), ElementsAre("process " + std::to_string(unsound),
                                             "thread thread " + std::to_string(unsound)));
  }
}

TEST(Places, ReplaceTexts) {
  TraceBuilder builder;
  const EventId event = add_at(builder, text(builder, "python"), text(builder, "main"));
  const EventId other = add_at(builder, text(builder, "python"), text(builder, "worker"));
  const Placing placing(builder);
  EXPECT_EQ(placing.at(event).first, placing.at(other).first);
  EXPECT_NE(placing.at(event).second, placing.at(other).second);
  EXPECT_THAT(placing.names(), ElementsAre("process python", "thread main", "thread worker"));
}

TEST(Places, TakeTheNumberOfAStream) {
  TraceBuilder builder;
  const EventId seven = add_at(builder, number(0), text(builder, "stream 7"), "kernel");
  const EventId bad = add_at(builder, number(0), text(builder, "stream -7"), "kernel");
  const EventId word = add_at(builder, number(0), text(builder, "stream x"), "kernel");
  const Placing placing(builder);
  EXPECT_THAT(placing.at(seven), Pair(0, 7));
  EXPECT_NE(placing.at(bad).second, placing.at(word).second);
  EXPECT_GE(placing.at(bad).second, 0);
  EXPECT_THAT(placing.names(),
              ElementsAre("thread stream 7", "thread stream -7", "thread stream x"));
}

TEST(Places, DoNotShareNumbersThatSoundTracksHave) {
  TraceBuilder builder;
  const EventId text_stream = add_at(builder, number(0), text(builder, "stream 7"), "kernel");
  const EventId stream = add_at(builder, number(0), number(7), "kernel");
  const Placing placing(builder);
  EXPECT_THAT(placing.at(stream), Pair(0, 7)) << "the sound number stays";
  EXPECT_NE(placing.at(text_stream), placing.at(stream));
}

TEST(Places, OfEqualThreadsOfTwoProcessesDiffer) {
  TraceBuilder builder;
  const EventId first = add_at(builder, number(1), number(5));
  const EventId second = add_at(builder, number(2), number(5));
  const Placing placing(builder);
  EXPECT_THAT(placing.at(first), Pair(1, 5));
  EXPECT_EQ(placing.at(second).first, 2);
  EXPECT_NE(placing.at(second).second, 5) << "the plugin does not look at processes";
  EXPECT_EQ(placing.places.renumbered(), 1u);
}

TEST(Places, OfThreadsWithoutOperatorsMayBeEqual) {
  TraceBuilder builder;
  const EventId op = add_at(builder, number(1), number(7));
  const EventId kernel = add_at(builder, number(0), number(7), "kernel");
  const EventId overhead = add_at(builder, number(2), number(7), "overhead");
  const Placing placing(builder);
  EXPECT_THAT(placing.at(op), Pair(1, 7));
  EXPECT_THAT(placing.at(kernel), Pair(0, 7));
  EXPECT_THAT(placing.at(overhead), Pair(2, 7));
}

TEST(Places, OfDevicesHaveTheDevicesNumber) {
  TraceBuilder builder;
  const EventId kernel = add_at(builder, number(14), number(7), "kernel");
  const TrackId label_only = builder.track(number(14), number(0));
  builder.set_metadata("deviceProperties", R"([{"id":0}])");
  const Placing placing(builder);
  EXPECT_THAT(placing.at(kernel), Pair(0, 7));
  EXPECT_TRUE(placing.places.of_event(kernel).is_device);
  EXPECT_EQ(placing.places.of_track(label_only).process, 0) << "its name is the device's";
}

TEST(Places, OfLanesAreFreeAndNamed) {
  TraceBuilder builder;
  const EventId op = add_at(builder, number(1), number(5), "cpu_op", 0);
  const EventId annotation = add_at(builder, number(1), number(5), "user_annotation", 30'000);
  const EventId again = add_at(builder, number(1), number(5), "user_annotation", 400'000);
  const EventId over = add_at(builder, number(1), number(5), "cpu_op", 430'000);
  add_at(builder, number(1), number(1'000'000'000));
  builder.name_thread(builder.track(number(1), number(5)), builder.intern("main"));
  const Placing placing(builder);
  EXPECT_THAT(placing.at(op), Pair(1, 5));
  EXPECT_THAT(placing.at(over), Pair(1, 5));
  EXPECT_EQ(placing.at(annotation).first, 1);
  EXPECT_NE(placing.at(annotation).second, 5);
  EXPECT_NE(placing.at(annotation).second, 1'000'000'000);
  EXPECT_EQ(placing.at(annotation), placing.at(again)) << "one lane is enough";
  EXPECT_THAT(placing.names(), ElementsAre("thread main (lane 1)"));
  EXPECT_EQ(placing.places.renumbered(), 0u);
}

TEST(Places, OfTextsAreThoseOfTheirTracks) {
  TraceBuilder builder;
  const EventId event = add_at(builder, number(-1), text(builder, "main"));
  const EventId self = add_at(builder, number(9), number(9));
  const Placing placing(builder);
  const auto of_text = [&](std::string_view process, std::string_view thread) {
    const Place place = placing.places.of_text(process, thread);
    return std::pair(place.process, place.thread);
  };
  EXPECT_EQ(of_text("-1", "main"), placing.at(event));
  EXPECT_EQ(of_text("-01", "main"), placing.at(event)) << "numbers are read as numbers";
  EXPECT_EQ(of_text("9", ""), placing.at(self)) << "a thread that is not named is the process";
  EXPECT_EQ(of_text("-1", "5").first, placing.at(event).first) << "a thread that is on no track";
  EXPECT_EQ(of_text("-1", "5").second, 5);
  EXPECT_EQ(of_text("12", "13"), (std::pair<std::int64_t, std::int64_t>(12, 13)));
  EXPECT_EQ(of_text("who", "-13"), (std::pair<std::int64_t, std::int64_t>(0, 0)));
}

TEST(Places, OfRandomTracksAreSoundAndDifferWhereTracksDo) {
  constexpr std::int64_t kNumbers[] = {
      -3, -1, 0, 1, 2, 7, 63, 64, 1'000'000'000, 1'000'000'001, kLargestSound, kLargestSound + 1};
  constexpr std::string_view kTexts[] = {"a", "stream 7", "stream 1", "stream 1000000000", "gpu"};
  constexpr std::string_view kCategories[] = {"cpu_op", "kernel", "gpu_memcpy", "overhead",
                                              "user_annotation"};
  for (unsigned seed = 0; seed < fixtures::random_rounds(2000u); ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    const auto key = [&] {
      return random() % 3 > 0 ? number(kNumbers[random() % 12])
                              : text(builder, kTexts[random() % 5]);
    };
    for (std::size_t count = 1 + random() % 12; count > 0; --count) {
      const auto process = key();
      const auto thread = key();
      const std::string_view category = kCategories[random() % 5];
      add_at(builder, process, thread, category, static_cast<int>(random() % 90'000));
    }
    const Placing placing(builder);
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    for (std::size_t row = 0; row < placing.trace.tracks().size(); ++row) {
      const Place& place = placing.places.of_track(static_cast<TrackId>(row));
      ASSERT_GE(place.process, 0) << "seed " << seed;
      ASSERT_LE(place.process, kLargestSound) << "seed " << seed;
      ASSERT_GE(place.thread, 0) << "seed " << seed;
      ASSERT_LE(place.thread, kLargestSound) << "seed " << seed;
      ASSERT_TRUE(seen.insert({place.process, place.thread}).second) << "seed " << seed;
      ASSERT_TRUE(!place.is_device || place.process < 64) << "seed " << seed;
    }
    for (const Crossings::Move& move : placing.crossings.moved) {
      const TrackId track = placing.trace.events().track(move.event);
      ASSERT_EQ(placing.at(move.event).first, placing.places.of_track(track).process);
      ASSERT_FALSE(seen.contains(placing.at(move.event))) << "seed " << seed << ": a lane is free";
    }
  }
}

}  // namespace
}  // namespace tbtrace::chrome
