#include "analyses/attribution/owners.h"

#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;

MemoryRecord record_at(TraceBuilder& builder, std::int64_t time, std::int64_t thread = 1) {
  MemoryRecord record;
  record.time_ns = time;
  record.bytes = 8;
  record.track = fixtures::track(builder, 1, thread);
  return record;
}

TEST(OwnerOfWork, IsItsOperatorThenWhatHoldsItsLaunchThenTheLaunch) {
  TraceBuilder builder;
  const EventId frame = add(builder, {.category = "python_function", .start = 0, .duration = 10});
  const EventId inside = add(builder, {.category = "cuda_runtime", .start = 2, .duration = 1});
  const EventId alone = add(builder, {.category = "cuda_runtime", .start = 20, .duration = 1});
  const EventId op = add(builder, {.start = 30, .duration = 5});
  const Trace trace = finished(builder);
  const CallTree& tree = call_tree_of(trace);
  EXPECT_EQ(owner_of_work(tree, {.launch = inside, .op = op}), op);
  EXPECT_EQ(owner_of_work(tree, {.op = op}), op);
  EXPECT_EQ(owner_of_work(tree, {.launch = inside}), frame);
  EXPECT_EQ(owner_of_work(tree, {.launch = alone}), alone);
  EXPECT_EQ(owner_of_work(tree, {}), EventId::none);
}

TEST(OwnerOfMemory, IsTheRangeThatStartedLastAndHadNotEnded) {
  TraceBuilder builder;
  const EventId outer = add(builder, {.start = 10, .duration = 20});  // to 30
  const EventId inner = add(builder, {.start = 15, .duration = 5});   // to 20
  const EventId crossing = add(builder, {.start = 25, .duration = 15});
  for (const std::int64_t time : {9, 10, 15, 20, 21, 25, 30, 31, 40, 41}) {
    builder.add_memory(record_at(builder, time));
  }
  const Trace trace = finished(builder);
  std::vector<EventId> owners;
  for_each_memory_owner(trace, call_tree_of(trace),
                        [&](const MemoryRecord&, EventId owner) { owners.push_back(owner); });
  EXPECT_THAT(owners, ElementsAre(EventId::none, outer, inner, inner, outer, crossing, crossing,
                                  crossing, crossing, EventId::none));
}

TEST(OwnerOfMemory, IsOnTheThreadOfTheRecord) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 0, .duration = 9, .thread = 1});
  builder.add_memory(record_at(builder, 5, 2));
  builder.add_memory(record_at(builder, 5, 1));
  const Trace trace = finished(builder);
  std::vector<EventId> owners;
  for_each_memory_owner(trace, call_tree_of(trace),
                        [&](const MemoryRecord&, EventId owner) { owners.push_back(owner); });
  EXPECT_THAT(owners, ElementsAre(EventId::none, op));
}

TEST(MemoryKinds, AreTorchsNumbersOfDevices) {
  std::vector<int> host;
  std::vector<int> device;
  for (int type = -2; type < 32; ++type) {
    if (is_cpu_memory(static_cast<DeviceType>(type))) host.push_back(type);
    if (is_device_memory(static_cast<DeviceType>(type))) device.push_back(type);
  }
  EXPECT_THAT(host, ElementsAre(0, 2, 5));
  EXPECT_THAT(device, ElementsAre(1, 6, 12, 20));
}

}  // namespace
}  // namespace tbtrace::analyses
