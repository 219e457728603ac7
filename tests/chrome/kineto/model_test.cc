#include "chrome/kineto/model.h"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "fixtures/document_rows.h"
#include "fixtures/hostile_names.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"
#include "wire/json_strict.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

struct Exported {
  std::string text;
  std::vector<std::string> rows;
  Changes changes;
};

Exported exported(const Trace& trace, bool infer_steps = false) {
  Exported exported;
  std::ostringstream stream;
  const Result<Changes> changes =
      write_chrome_trace(trace, stream, {.dialect = Dialect::kineto, .infer_steps = infer_steps});
  EXPECT_TRUE(changes.ok());
  if (changes.ok()) exported.changes = *changes;
  exported.text = stream.str();
  std::string copy;
  EXPECT_TRUE(wire::append_strict_json(copy, exported.text, true)) << exported.text;
  exported.rows = fixtures::document_rows(exported.text);
  return exported;
}

Exported exported(std::string_view file, ArgumentSet arguments = kOperatorArguments) {
  std::istringstream stream{std::string(file)};
  const Result<Trace> trace = read_trace(stream, {.arguments = arguments});
  EXPECT_TRUE(trace.ok());
  return exported(*trace);
}

TEST(KinetoModel, KeepsIdsTracksAndTimesOfTheFile) {
  const Exported made = exported(R"({"baseTimeNanoseconds": 1790857026000000000, "traceEvents": [
    {"ph":"X","cat":"cpu_op","name":"a","pid":900,"tid":901,"ts":1000000,"dur":9.001},
    {"ph":"X","cat":"cpu_op","name":"b","pid":900,"tid":901,"ts":1000001,"dur":2,
     "args":{"External id":70}},
    {"ph":"X","cat":"cuda_runtime","name":"cudaFree","pid":900,"tid":901,"ts":1000020.5,"dur":1},
    {"ph":"X","cat":"kernel","name":"k","pid":9,"tid":-7,"ts":1000030,"dur":5}]})");
  EXPECT_THAT(
      made.rows,
      ElementsAre(
          R"({"ph":"X","cat":"cpu_op","name":"a","pid":900,"tid":901,"ts":1000000,"dur":9.001})",
          R"({"ph":"X","cat":"cpu_op","name":"b","pid":900,"tid":901,"ts":1000001,"dur":2,)"
          R"("args":{"External id":70}})",
          R"({"ph":"X","cat":"cuda_runtime","name":"cudaFree","pid":900,"tid":901,)"
          R"("ts":1000020.5,"dur":1})",
          R"({"ph":"X","cat":"kernel","name":"k","pid":9,"tid":-7,"ts":1000030,"dur":5,)"
          R"("args":{"device":9,"stream":-7}})"));
  EXPECT_THAT(made.text, HasSubstr(R"("baseTimeNanoseconds": 1790857026000000000)"));
  EXPECT_THAT(made.changes, IsEmpty());
}

TEST(KinetoModel, KeepsIdsThatAreNotUnique) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":5}},
    {"ph":"X","cat":"cuda_runtime","name":"m","pid":1,"tid":1,"ts":3,"dur":1,"args":{"correlation":5}},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5,"dur":1,"args":{"External id":7}},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":7,"dur":1,"args":{"External id":7}},
    {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":1,"ts":9,"dur":1,"args":{"External id":0}}])");
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_THAT(made.rows[0], HasSubstr("\"correlation\":5"));
  EXPECT_THAT(made.rows[1], HasSubstr("\"correlation\":5"));
  EXPECT_THAT(made.rows[2], HasSubstr("\"External id\":7"));
  EXPECT_THAT(made.rows[3], HasSubstr("\"External id\":7"));
  EXPECT_THAT(made.rows[4], HasSubstr("\"External id\":0"));
  EXPECT_THAT(made.changes, IsEmpty());
}

TEST(KinetoModel, KeepsFlowsWithTheirIds) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":5}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9,"dur":1,"args":{"correlation":5}},
    {"ph":"s","cat":"async_gpu","name":"cudaLaunchKernel","id":5,"pid":1,"tid":1,"ts":1},
    {"ph":"f","cat":"async_gpu","name":"cudaLaunchKernel","id":5,"pid":0,"tid":7,"ts":9,"bp":"e"},
    {"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":40,"pid":1,"tid":1,"ts":90}])");
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_EQ(made.rows[2], R"({"ph":"s","cat":"ac2g","name":"ac2g","id":5,"pid":1,"tid":1,"ts":1})");
  EXPECT_EQ(made.rows[3],
            R"({"ph":"f","bp":"e","cat":"ac2g","name":"ac2g","id":5,"pid":0,"tid":7,"ts":9})");
  EXPECT_EQ(made.rows[4],
            R"({"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":40,"pid":1,"tid":1,"ts":90})");
  EXPECT_THAT(made.changes, IsEmpty());
}

TEST(KinetoModel, AddsFlowsThatLaunchesLack) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime", .duration = 2'000, .correlation = 40});
  for (const std::int64_t start : {5'000, 9'000}) {
    add(builder, {.category = "kernel",
                  .start = start,
                  .duration = 2'000,
                  .thread = 7,
                  .process = 0,
                  .correlation = 40});
  }
  const Exported made = exported(finished(builder));
  std::string flows;
  for (const std::string& row : made.rows) {
    if (row.find("\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":40,") != row.npos) {
      flows += row.substr(7, 1);
    }
  }
  EXPECT_EQ(flows, "sff") << "one start for both kernels";
  EXPECT_THAT(made.changes, ElementsAre(Pair("flows_added", 3)));
}

TEST(KinetoModel, KeepsTracksThatAreTexts) {
  const Exported made = exported(R"([
    {"ph":"M","name":"process_name","pid":"host","args":{"name":"py"}},
    {"ph":"X","cat":"kernel","name":"k","pid":"GPU 0","tid":"stream 7","ts":1,"dur":1}])");
  ASSERT_EQ(made.rows.size(), 1u) << "the process has no ranges";
  EXPECT_EQ(
      made.rows[0],
      R"({"ph":"X","cat":"kernel","name":"k","pid":"GPU 0","tid":"stream 7","ts":1,"dur":1})");
  EXPECT_THAT(made.changes, IsEmpty());
}

TEST(KinetoModel, WritesAllArgumentsThatTheTraceHolds) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9,"dur":1,"args":{"correlation":5,
     "device":0,"stream":20,"context":1,"grid":[864,2,1],"block":[128,1,1],
     "registers per thread":32,"blocks per SM":8.1,"warps per SM":32.5,
     "est. achieved occupancy %":50,"graph id":2}},
    {"ph":"X","cat":"user_annotation","name":"nccl:all_reduce","pid":1,"tid":1,"ts":1,"dur":1,
     "args":{"Collective name":"allreduce","dtype":"Float","Process Group Ranks":"[0, 1]",
     "In msg nelems":16}},
    {"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":3,"args":{"Device Type":20,
     "Device Id":1,"Bytes":-512,"Addr":18446744073709551615,"Total Allocated":1024,
     "Total Reserved":4096,"Ev Idx":3}}])",
                                 ArgumentSet::all());
  ASSERT_EQ(made.rows.size(), 3u);
  EXPECT_THAT(made.rows[0],
              HasSubstr(R"("args":{"correlation":5,"stream":20,"device":0,"context":1,)"
                        R"("grid":[864,2,1],"block":[128,1,1],"registers per thread":32,)"
                        R"("blocks per SM":8.1,"warps per SM":32.5,)"
                        R"("est. achieved occupancy %":50,"graph id":2}})"));
  EXPECT_THAT(made.rows[1], HasSubstr(R"("args":{"Collective name":"allreduce","dtype":"Float",)"
                                      R"("In msg nelems":16,"Process Group Ranks":"[0, 1]"}})"));
  EXPECT_EQ(made.rows[2],
            R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":3,)"
            R"("s":"t","args":{"Device Type":20,"Device Id":1,"Bytes":-512,)"
            R"("Addr":18446744073709551615,"Total Allocated":1024,"Total Reserved":4096,)"
            R"("Ev Idx":3}})");
}

TEST(KinetoModel, KeepsIdsOfFramesThatTheTraceHolds) {
  constexpr std::string_view kFile = R"([
    {"ph":"X","cat":"python_function","name":"f","pid":1,"tid":1,"ts":1,"dur":9,
     "args":{"Python id":12,"Python parent id":null}},
    {"ph":"X","cat":"python_function","name":"nn.Module: A_0","pid":1,"tid":1,"ts":2,"dur":5,
     "args":{"Python id":15,"Python parent id":12,"Python module id":3}}])";
  const Exported held = exported(kFile, {ArgumentGroup::python});
  EXPECT_THAT(held.rows[0], HasSubstr(R"({"Python id":12,"Python parent id":null})"));
  EXPECT_THAT(held.rows[1],
              HasSubstr(R"({"Python id":15,"Python parent id":12,"Python module id":3})"));
  const Exported not_held = exported(kFile, {});
  EXPECT_THAT(not_held.rows[0], HasSubstr(R"({"Python id":1,"Python parent id":null})"));
  EXPECT_THAT(not_held.rows[1], HasSubstr(R"("Python id":2,"Python parent id":1,"Python module)"));
}

TEST(KinetoModel, GivesOldCategoriesTodaysNames) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"Operator","name":"a","pid":1,"tid":1,"ts":1,"dur":9},
    {"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":7,"ts":2,"dur":5},
    {"ph":"X","name":"none","pid":1,"tid":2,"ts":2,"dur":5}])");
  EXPECT_THAT(made.rows[2], StartsWith(R"({"ph":"X","name":"none",)"));
  EXPECT_THAT(made.rows[0], HasSubstr(R"("cat":"cpu_op")"));
  EXPECT_THAT(made.rows[1], HasSubstr(R"("cat":"kernel")"));
  EXPECT_THAT(made.changes, ElementsAre(Pair("categories_renamed", 2)));
}

TEST(KinetoModel, KeepsPairsWithTheNameOfMemoryRecordsAsRanges) {
  const Exported made = exported(R"([
    {"ph":"B","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":1},
    {"ph":"E","pid":1,"tid":1,"ts":3}])");
  ASSERT_EQ(made.rows.size(), 1u);
  EXPECT_THAT(made.rows[0], HasSubstr(R"("ph":"X","cat":"annotation","name":"[memory]")"));
  EXPECT_THAT(made.changes, ElementsAre(Pair("ranges_like_memory", 1)));
}

TEST(KinetoModel, ChangesNothingForThePlugin) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "ProfilerStep#x", .duration = 5'000});
  add(builder, {.category = "user_annotation", .name = "nccl:_all_gather_base", .start = 6'000});
  add(builder, {.category = "cuda_driver", .name = "cuLaunchKernel", .start = 7'000});
  add(builder, {.category = "gpu_user_annotation", .name = "ProfilerStep#1", .process = 0});
  const Exported made = exported(finished(builder));
  ASSERT_EQ(made.rows.size(), 4u);
  EXPECT_THAT(made.rows[0], HasSubstr(R"("cat":"user_annotation","name":"ProfilerStep#x")"));
  EXPECT_THAT(made.rows[1], HasSubstr(R"("name":"nccl:_all_gather_base")"));
  EXPECT_THAT(made.rows[2], HasSubstr(R"("cat":"cuda_driver")"));
  EXPECT_THAT(made.rows[2], Not(HasSubstr("External id")));
  EXPECT_THAT(made.rows[3], HasSubstr(R"("cat":"gpu_user_annotation")"));
  EXPECT_THAT(made.changes, IsEmpty());
}

TEST(KinetoModel, InfersStepsIfAsked) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "Iteration 4", .duration = 5'000});
  const Trace trace = finished(builder);
  EXPECT_THAT(exported(trace).rows[0], HasSubstr(R"("name":"Iteration 4")"));
  const Exported inferred = exported(trace, true);
  EXPECT_THAT(inferred.rows[0], HasSubstr(R"("name":"ProfilerStep#4")"));
  EXPECT_THAT(inferred.rows[0], HasSubstr(R"("Annotation":"Iteration 4")"));
  EXPECT_THAT(inferred.changes, ElementsAre(Pair("steps_inferred", 1)));
}

TEST(KinetoModel, PutsHostRangesThatCrossOnNamedLanes) {
  TraceBuilder builder;
  add(builder, {.duration = 50'000, .external_id = 1});
  add(builder,
      {.category = "user_annotation", .start = 40'000, .duration = 50'000, .external_id = 2});
  add(builder, {.category = "kernel", .name = "k", .duration = 50'000, .thread = 7, .process = 0});
  add(builder, {.category = "kernel",
                .name = "l",
                .start = 40'000,
                .duration = 50'000,
                .thread = 7,
                .process = 0});
  const Exported made = exported(finished(builder));
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_THAT(made.rows[1], HasSubstr(R"("pid":1,"tid":1000000000,)"));
  EXPECT_THAT(made.rows[3], HasSubstr(R"("pid":0,"tid":7,)")) << "a stream keeps its kernels";
  EXPECT_EQ(made.rows[4], R"({"ph":"M","name":"thread_name","pid":1,"tid":1000000000,"ts":0,)"
                          R"-("args":{"name":"thread 1 (lane 1)"}})-");
  EXPECT_THAT(made.changes, ElementsAre(Pair("ranges_moved_to_lanes", 1)));
}

TEST(KinetoModel, PutsFlowEventsOnTheLaneOfTheirRange) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"cpu_op","name":"forward","pid":1,"tid":1,"ts":0,"dur":50,"args":{"External id":1}},
    {"ph":"X","cat":"cpu_op","name":"backward","pid":1,"tid":1,"ts":40,"dur":50,"args":{"External id":2}},
    {"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":3,"pid":1,"tid":1,"ts":0},
    {"ph":"f","cat":"fwdbwd","name":"fwdbwd","id":3,"pid":1,"tid":1,"ts":40,"bp":"e"}])");
  ASSERT_EQ(made.rows.size(), 5u);
  EXPECT_THAT(made.rows[1], HasSubstr(R"("name":"backward","pid":1,"tid":1000000000,)"));
  EXPECT_THAT(made.rows[2], HasSubstr(R"("pid":1,"tid":1,"ts":0)"));
  EXPECT_THAT(made.rows[3], HasSubstr(R"("pid":1,"tid":1000000000,"ts":40)"));
}

TEST(KinetoModel, GivesLaunchesTheIdOfAnOperatorThatMoves) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":10,"args":{"External id":1}},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":5,"dur":10,"args":{"External id":2}},
    {"ph":"X","cat":"cuda_runtime","name":"l","pid":1,"tid":1,"ts":12,"dur":2,"args":{"correlation":3}},
    {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":40,"dur":5,"args":{"correlation":3}}])");
  EXPECT_THAT(made.rows[2], HasSubstr(R"("args":{"External id":2,"correlation":3})"));
  EXPECT_THAT(made.changes, ElementsAre(Pair("external_ids_repaired", 1), Pair("flows_added", 2),
                                        Pair("ranges_moved_to_lanes", 1)));
}

TEST(KinetoModel, ShortensRangesThatCrossByRounding) {
  const Exported made = exported(R"([
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":0,"dur":10},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":5,"dur":5.001}])");
  EXPECT_THAT(made.rows[1], HasSubstr(R"("ts":5,"dur":5)"));
  EXPECT_THAT(made.rows[1], Not(HasSubstr("5.001")));
  EXPECT_THAT(made.changes, ElementsAre(Pair("ranges_shortened", 1)));
}

TEST(KinetoModel, MarksRangesThatMayEndOnAnotherThread) {
  const Exported made = exported(R"([{"ph":"X","cat":"user_annotation","name":"a","pid":1,"tid":1,
    "ts":0,"dur":10,"args":{"asynchronous":true}}])");
  EXPECT_THAT(made.rows[0], HasSubstr(R"("args":{"asynchronous":true})"));
}

TEST(KinetoModel, EscapesHostileTexts) {
  for (const std::string_view name : fixtures::kHostileNames) {
    if (name == fixtures::kNotUtf8) continue;  // no trace holds it
    TraceBuilder builder;
    add(builder, {.name = name, .duration = 50'000});
    add(builder, {.category = name, .name = "b", .start = 60'000});
    const TrackId named = builder.track({0, builder.intern(name)}, {0, builder.intern(name)});
    builder.name_process({0, builder.intern(name)}, builder.intern(name));
    builder.name_thread(named, builder.intern(name));
    EventRow row;
    row.track = named;
    row.name = builder.intern("c");
    row.category = builder.category(builder.intern("cpu_op"));
    const EventId event = builder.add_event(row);
    builder.add_argument(event, Argument::call_stack, builder.intern(name));
    const Trace again = fixtures::read(exported(finished(builder)).text);
    ASSERT_EQ(again.events().size(), 3u);
    EXPECT_EQ(again.name(EventId{0}), name);
    EXPECT_EQ(again.string(again.category(EventId{1}).name), name);
    const Track& track = again.track(again.events().track(EventId{2}));
    EXPECT_EQ(again.string(track.process.text), name);
    EXPECT_EQ(again.string(track.thread.text), name);
    EXPECT_EQ(again.string(track.process_name), name);
    EXPECT_EQ(again.string(track.thread_name), name);
    EXPECT_EQ(again.argument_text(EventId{2}, Argument::call_stack), name);
  }
}

TEST(KinetoModel, WritesTimesHoweverFarTheyAre) {
  TraceBuilder builder;
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
  add(builder, {.start = -kFarthest, .duration = 5});
  add(builder, {.start = kFarthest - 5, .duration = 5, .thread = 2});
  const Exported made = exported(finished(builder));
  EXPECT_THAT(made.rows[0], HasSubstr("\"ts\":-4611686018427387.903,\"dur\":0.005"));
  EXPECT_THAT(made.rows[1], HasSubstr("\"ts\":4611686018427387.898,\"dur\":0.005"));
}

}  // namespace
}  // namespace tbtrace::chrome
