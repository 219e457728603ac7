// torch's event list on random recordings.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "analyses/random_recording.h"
#include "analyses/torch/by_the_rules.h"
#include "analyses/torch/events.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::analyses {
namespace {

struct Seen {
  std::size_t rows = 0, children = 0, kernels = 0, duplicates = 0, memory_rows = 0, async = 0;
};

void expect_rules(const Trace& trace, int threads, Seen& seen) {
  const TorchEvents events(trace, {.threads = threads});
  const EventList list = tbtrace::events(trace);
  const TorchByTheRules rules(trace);
  ASSERT_EQ(events.size(), rules.list().size());
  ASSERT_EQ(list.size(), rules.list().size());
  std::size_t kernels = 0;
  for (std::size_t number = 0; number < events.size(); ++number) {
    SCOPED_TRACE(number);
    const RuledRow& row = *rules.list()[number];
    ASSERT_EQ(events.text(events.name(number)), row.name);
    ASSERT_EQ(events.event(number), row.event);
    ASSERT_EQ(events.start_us(number), row.start);
    ASSERT_EQ(events.end_us(number), row.end);
    ASSERT_EQ(events.is_async(number), row.async);
    ASSERT_EQ(events.device_type(number), row.device);
    const std::uint32_t parent = events.parent(number);
    ASSERT_EQ(parent == TorchEvents::kNoParent ? nullptr : rules.list()[parent], row.parent);
    ASSERT_EQ(events.cpu_time_us(number), row.device == DeviceType::cpu ? row.elapsed() : 0);
    ASSERT_EQ(events.self_cpu_time_us(number), row.self_us());
    ASSERT_EQ(events.device_time_us(number), row.device_us());
    ASSERT_EQ(events.self_device_time_us(number), row.self_device_us());
    ASSERT_EQ(list[number].cpu_memory_usage_bytes, row.bytes);
    ASSERT_EQ(list[number].device_memory_usage_bytes, row.device_bytes);
    ASSERT_EQ(list[number].self_cpu_memory_usage_bytes, row.self_bytes());
    for (const double kernel : row.kernels) {
      ASSERT_LT(kernels, events.kernels().size());
      ASSERT_EQ(events.kernels()[kernels].row, number);
      ASSERT_EQ(events.elapsed_us(events.kernels()[kernels]), kernel);
      ++kernels;
    }
    seen.children += row.parent != nullptr;
    seen.memory_rows += row.event == EventId::none;
    seen.async += row.async;
  }
  ASSERT_EQ(events.kernels().size(), kernels);
  seen.rows += events.size();
  seen.kernels += kernels;
  seen.duplicates += rules.duplicates();
}

void expect_rules_on(int traces, const RandomRecording::Options& options, Seen& seen) {
  for (int seed = 0; seed < traces; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Trace trace = RandomRecording(static_cast<unsigned>(seed), options).make();
    ASSERT_NO_FATAL_FAILURE(expect_rules(trace, 1 + seed % 4, seen));
  }
}

TEST(TorchEvents, FollowTheirRulesOnThousandsOfRandomTraces) {
  Seen seen;
  expect_rules_on(fixtures::random_rounds(4000), {}, seen);
  // The traces are worth nothing if a rule was hardly met.
  EXPECT_GT(seen.children, seen.rows / 5);
  EXPECT_GT(seen.kernels, fixtures::random_rounds(3000u));
  EXPECT_GT(seen.memory_rows, fixtures::random_rounds(3000u));
  EXPECT_GT(seen.async, fixtures::random_rounds(100u));
  EXPECT_GT(seen.duplicates, fixtures::random_rounds(500u));
}

TEST(TorchEvents, FollowTheirRulesWhereRangesNeverEnded) {
  Seen seen;
  expect_rules_on(fixtures::random_rounds(2000), {.unfinished = true}, seen);
  EXPECT_GT(seen.async, fixtures::random_rounds(2000u));
}

TEST(TorchEvents, FollowTheirRulesWithAnnotationsOnDevices) {
  Seen seen;
  expect_rules_on(fixtures::random_rounds(2000), {.shadows = true}, seen);
}

TEST(TorchEvents, FollowTheirRulesOnLargerTraces) {
  Seen seen;
  expect_rules_on(fixtures::random_rounds(30), {.ranges = 300, .longest = 400}, seen);
}

TEST(TorchEvents, FollowTheirRulesOnTheHostAlone) {
  Seen seen;
  expect_rules_on(fixtures::random_rounds(1000),
                  {.devices = false, .memory = false, .odd_names = false}, seen);
}

}  // namespace
}  // namespace tbtrace::analyses
