#include "analyses/compat/plugin/launches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;

EventId launch_of(const Trace& trace, EventId work) {
  for (const DeviceLink& row : plugin_launches(trace, plugin_order(trace))) {
    if (row.activity == work) return row.launch;
  }
  ADD_FAILURE() << "it is not work";
  return EventId::none;
}

EventId add_launch(TraceBuilder& builder, std::int64_t start, std::int64_t correlation,
                   std::string_view category = "cuda_runtime") {
  return add(builder, {.category = category,
                       .name = "launch",
                       .start = start,
                       .duration = 1,
                       .correlation = correlation});
}

EventId add_kernel(TraceBuilder& builder, std::int64_t start, std::int64_t correlation) {
  return add(builder, {.category = "kernel",
                       .name = "gemm",
                       .start = start,
                       .duration = 1,
                       .thread = 7,
                       .correlation = correlation});
}

TEST(PluginOrder, TimesThatADoubleDoesNotTellApartStandAsInTheFile) {
  constexpr std::int64_t kNow = 1'700'000'000'000'000'000;  // doubles of microseconds: 250 ns
  TraceBuilder builder;
  const EventId later = add(builder, {.name = "b", .start = kNow + 100, .duration = 1});
  const EventId sooner = add(builder, {.name = "a", .start = kNow, .duration = 1});
  const EventId first = add(builder, {.name = "c", .start = kNow - 500, .duration = 1});
  const Trace trace = finished(builder);
  EXPECT_THAT(plugin_order(trace), ElementsAre(first, later, sooner));
}

TEST(PluginLaunches, AreTheLatestCallBeforeTheWorkElseTheFirstBehindIt) {
  TraceBuilder builder;
  const EventId early = add_kernel(builder, 0, 5);
  const EventId also_early = add_kernel(builder, 5, 5);
  const EventId one = add_launch(builder, 10, 5);
  const EventId between = add_kernel(builder, 15, 5);
  const EventId two = add_launch(builder, 20, 5);
  const EventId late = add_kernel(builder, 25, 5);
  const EventId other = add_kernel(builder, 26, 6);
  const Trace trace = finished(builder);
  EXPECT_EQ(launch_of(trace, early), one);
  EXPECT_EQ(launch_of(trace, also_early), one);
  EXPECT_EQ(launch_of(trace, between), one);
  EXPECT_EQ(launch_of(trace, late), two);
  EXPECT_EQ(launch_of(trace, other), EventId::none);
}

TEST(PluginLaunches, AreNeverCallsOfADriver) {
  TraceBuilder builder;
  add_launch(builder, 10, 5, "cuda_driver");
  const EventId kernel = add_kernel(builder, 15, 5);
  EXPECT_EQ(launch_of(finished(builder), kernel), EventId::none);
}

TEST(PluginLaunches, MatchTheirDefinitionOnThousandsOfRandomTraces) {
  std::size_t launched = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomRecording(seed, {}).make();
    const std::vector<EventId> order = plugin_order(trace);
    std::vector<DeviceLink> rows = plugin_launches(trace, order);
    auto row = rows.begin();
    for (std::size_t at = 0; at < order.size(); ++at) {
      if (!is_device_work(trace.kind(order[at]))) continue;
      EventId launch = EventId::none;
      for (std::size_t call = 0; call < order.size(); ++call) {
        if (trace.kind(order[call]) != EventKind::runtime) continue;
        if (trace.correlation(order[call]) != trace.correlation(order[at])) continue;
        if (call < at || launch == EventId::none) launch = order[call];
      }
      ASSERT_NE(row, rows.end());
      ASSERT_EQ(row->activity, order[at]);
      ASSERT_EQ(row->launch, launch);
      launched += launch != EventId::none;
      ++row;
    }
    ASSERT_EQ(row, rows.end());
  }
  EXPECT_GT(launched, fixtures::random_rounds(1000u));
}

}  // namespace
}  // namespace tbtrace::analyses
