#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/trace_rows.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;

TEST(Trace, StaysValidWhenItIsMoved) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "aten::mm", .start = 3, .duration = 4});
  builder.set_metadata("k", "1");
  Trace first = finished(builder);
  const std::string_view name = first.name(op);
  const CallTree* tree = &call_tree_of(first);
  Trace second = std::move(first);
  EXPECT_EQ(second.name(op), "aten::mm");
  EXPECT_EQ(second.name(op).data(), name.data()) << "views stay where they are";
  EXPECT_EQ(second.events().start_ns(op), 3);
  EXPECT_EQ(second.tracks().size(), 1u);
  EXPECT_EQ(&call_tree_of(second), tree);
  TraceBuilder empty;
  Trace third = finished(empty);
  third = std::move(second);
  EXPECT_EQ(third.name(op), "aten::mm");
  EXPECT_EQ(third.string(third.category(op).name), "cpu_op");
  EXPECT_TRUE(third.is_set("k"));
}

TEST(Trace, GivesAllTimesInARow) {
  TraceBuilder builder;
  add(builder, {.start = 7, .duration = 4});
  add(builder, {.start = 3, .duration = 9});
  const Trace trace = finished(builder);
  const Events& events = trace.events();
  ASSERT_EQ(events.starts_ns().size(), 2u);
  ASSERT_EQ(events.durations_ns().size(), 2u);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_EQ(events.starts_ns()[row], events.start_ns(static_cast<EventId>(row)));
    EXPECT_EQ(events.durations_ns()[row], events.duration_ns(static_cast<EventId>(row)));
  }
}

TEST(Trace, ComputesTreeAndLinksOnceForAllThreads) {
  TraceBuilder builder;
  for (int row = 0; row < 2000; ++row) {
    add(builder, {.start = row * 10, .duration = 8});
    add(builder, {.category = "cuda_runtime", .start = row * 10 + 1, .correlation = row + 1});
    add(builder,
        {.category = "kernel", .start = row * 10 + 5, .process = 0, .correlation = row + 1});
  }
  const Trace trace = finished(builder);
  std::vector<const CallTree*> trees(4);
  std::vector<const Links*> links(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        links[thread] = &links_of(trace);
        trees[thread] = &call_tree_of(trace);
      });
    }
  }
  for (std::size_t thread = 0; thread < 4; ++thread) {
    EXPECT_EQ(trees[thread], &call_tree_of(trace));
    EXPECT_EQ(links[thread], &links_of(trace));
  }
  EXPECT_EQ(trace.links().operator_by_containment, 2000u);
}

TEST(Trace, SaysWhichMetadataAreSet) {
  TraceBuilder builder;
  builder.set_metadata("one", "1");
  builder.set_metadata("zero", "0");
  builder.set_metadata("true", "true");
  builder.set_metadata("false", "false");
  builder.set_metadata("null", "null");
  builder.set_metadata("text", "\"\"");
  builder.set_metadata("quoted one", "\"1\"");
  builder.set_metadata("quoted zero", "\"0\"");
  builder.set_metadata("Python's", "\"False\"");
  const Trace trace = finished(builder);
  EXPECT_TRUE(trace.is_set("one"));
  EXPECT_TRUE(trace.is_set("true"));
  EXPECT_TRUE(trace.is_set("text"));
  EXPECT_FALSE(trace.is_set("zero"));
  EXPECT_FALSE(trace.is_set("false"));
  EXPECT_FALSE(trace.is_set("null"));
  EXPECT_TRUE(trace.is_set("quoted one"));
  EXPECT_FALSE(trace.is_set("quoted zero"));
  EXPECT_FALSE(trace.is_set("Python's"));
  EXPECT_FALSE(trace.is_set("absent"));
}

std::optional<std::int64_t> rank_in(std::string_view distributed) {
  TraceBuilder builder;
  builder.set_metadata("distributedInfo", distributed);
  return finished(builder).identity().rank;
}

TEST(TraceIdentity, HasTheRankOfTheDistributedInfo) {
  EXPECT_EQ(rank_in(R"({"backend": "nccl", "rank": 34, "world_size": 300})"), 34);
  EXPECT_EQ(rank_in(R"({"backend":"nccl","rank":0,"world_size":2})"), 0);
  EXPECT_EQ(rank_in(R"({"backend": "nccl"})"), std::nullopt);
  EXPECT_EQ(rank_in("{}"), std::nullopt);
}

TEST(TraceIdentity, HasTheSizeOfTheWorld) {
  TraceBuilder builder;
  builder.set_metadata("distributedInfo", R"({"backend": "nccl", "rank": 34, "world_size": 300})");
  EXPECT_EQ(finished(builder).identity().world_size, 300);
  TraceBuilder text;
  text.set_metadata("distributedInfo", R"("{\"rank\": 1, \"world_size\": 2}")");
  EXPECT_EQ(finished(text).identity().world_size, 2);
  TraceBuilder alone;
  EXPECT_EQ(finished(alone).identity().world_size, std::nullopt);
}

TEST(TraceIdentity, HasTheRankOfAnInfoThatIsAString) {
  EXPECT_EQ(rank_in(R"("{\"backend\": \"gloo\", \"rank\": 34, \"world_size\": 300}")"), 34);
}

TEST(TraceIdentity, DoesNotTakeTheRanksOfAGroupForTheRank) {
  EXPECT_EQ(rank_in(R"({"pg_config": [{"pg_size": 2, "ranks": [5, 6]}], "rank": 1})"), 1);
  EXPECT_EQ(rank_in(R"({"pg_config": [{"pg_size": 2, "ranks": [5, 6]}]})"), std::nullopt);
  EXPECT_EQ(rank_in(R"("{\"pg_config\": [{\"ranks\": [5, 6]}], \"rank\": 1}")"), 1);
}

TEST(TraceIdentity, DoesNotTakeAnotherNumberForARankThatIsNone) {
  EXPECT_EQ(rank_in(R"({"rank": null, "world_size": 2})"), std::nullopt);
  EXPECT_EQ(rank_in(R"({"rank": -1, "world_size": 2})"), std::nullopt);
}

TEST(TraceIdentity, IsUnknownWithoutMetadata) {
  TraceBuilder builder;
  const TraceIdentity identity = finished(builder).identity();
  EXPECT_EQ(identity.rank, std::nullopt);
  EXPECT_EQ(identity.host, "");
  EXPECT_EQ(identity.process, "");
}

TEST(TraceIdentity, NamesTheProcessOfTheFirstOperator) {
  TraceBuilder builder;
  add(builder, {.start = 9, .process = 12});
  add(builder, {.start = 5, .process = 11});
  add(builder, {.category = "kernel", .start = 1, .process = 0});
  EXPECT_EQ(finished(builder).identity().process, "11");
}

TEST(TraceIdentity, TellsHostsApart) {
  const auto host_of = [](std::string_view json) {
    TraceBuilder builder;
    builder.set_metadata("host_name", json);
    return finished(builder).identity().host;
  };
  EXPECT_EQ(host_of("\"a\""), host_of("\"a\""));
  EXPECT_NE(host_of("\"a\""), host_of("\"b\""));
}

TEST(Trace, ListsTheDevicesOfTheFile) {
  TraceBuilder builder;
  builder.set_metadata("deviceProperties",
                       R"([{"id": 3, "name": "Tesla \"V100\"", "totalGlobalMem": 34089730048,)"
                       R"( "computeMajor": 7, "computeMinor": 0, "numSms": 80}, {"name": 5}])");
  const std::vector<DeviceProperties> devices = finished(builder).device_properties();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].id, 3);
  EXPECT_EQ(devices[0].name, "Tesla \"V100\"");
  EXPECT_EQ(devices[0].memory_bytes, 34089730048);
  EXPECT_EQ(devices[0].compute_major, 7);
  EXPECT_EQ(devices[0].compute_minor, 0);
  EXPECT_EQ(devices[0].multiprocessors, 80);
  EXPECT_EQ(devices[1].id, 1) << "its place in the list";
  EXPECT_EQ(devices[1].name, "");
  EXPECT_EQ(devices[1].memory_bytes, std::nullopt);
}

TEST(Trace, ListsNoDevicesIfTheListIsNotJson) {
  TraceBuilder builder;
  builder.set_metadata("deviceProperties", "[{");
  EXPECT_TRUE(finished(builder).device_properties().empty());
  TraceBuilder without;
  EXPECT_TRUE(finished(without).device_properties().empty());
}

}  // namespace
}  // namespace tbtrace
