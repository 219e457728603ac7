#include "chrome/plugin/row_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/document_rows.h"
#include "fixtures/hostile_names.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"
#include "wire/json_strict.h"

namespace tbtrace::chrome {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::StartsWith;

struct Written {
  std::string text;
  Changes changes;
};

Written written(const Trace& trace, bool infer_steps = false) {
  Written written;
  const RowWriter writer(trace, infer_steps);
  RowTexts texts = writer.texts();
  writer.begin(written.text);
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    writer.range(static_cast<EventId>(row), {}, texts, written.text);
  }
  for (const MemoryRecord& record : trace.memory()) {
    writer.memory(record, writer.places().of_track(record.track), {}, written.text);
  }
  writer.end(written.text);
  written.changes = writer.changes();
  std::string copy;
  EXPECT_TRUE(wire::append_strict_json(copy, written.text, true)) << written.text;
  return written;
}

std::vector<std::string> rows(const Trace& trace) {
  return fixtures::document_rows(written(trace).text);
}

TEST(RowWriter, WritesAnEmptyTrace) {
  TraceBuilder builder;
  EXPECT_EQ(written(finished(builder)).text,
            "{\n\"schemaVersion\": 1,\n\"displayTimeUnit\": \"ms\",\n"
            "\"baseTimeNanoseconds\": 0,\n\"traceEvents\": [\n\n]}\n");
}

TEST(RowWriter, WritesMembersFirstAndEventsLast) {
  TraceBuilder builder;
  add(builder, {.name = "a", .start = 1'234'567, .duration = 5});
  builder.set_metadata("traceName", "\"[t]\"");
  builder.set_metadata("schemaVersion", "2");
  builder.set_metadata("deviceProperties", "[{\"id\": 0}]");
  builder.set_metadata("displayTimeUnit", "\"ns\"");
  builder.set_metadata("baseTimeNanoseconds", "5000000000");
  builder.set_metadata("INFO", "[\"a\"]");
  const std::string text = written(finished(builder)).text;
  EXPECT_THAT(text, StartsWith("{\n\"schemaVersion\": 2,\n\"deviceProperties\": [{\"id\": 0}],\n"
                               "\"INFO\": [\"a\"],\n\"displayTimeUnit\": \"ns\",\n"
                               "\"traceName\": \"[t]\",\n\"baseTimeNanoseconds\": 5001000000,\n"
                               "\"traceEvents\": [\n{"));
  EXPECT_THAT(text, EndsWith("}\n]}\n")) << "the plugin puts its counters before the last bracket";
}

TEST(RowWriter, WritesMembersThatAreNoJsonAsTexts) {
  TraceBuilder builder;
  builder.set_metadata("bad", "{'a': 1}");
  builder.set_metadata("nan", "NaN");
  builder.set_metadata("deviceProperties", "{\"0\": {}}");
  builder.set_metadata("a\"b", "1");
  builder.set_metadata("a\\n", "2");
  builder.set_metadata("traceEvents", "5");
  const std::string text = written(finished(builder)).text;
  EXPECT_THAT(text, HasSubstr("\"bad\": \"{'a': 1}\""));
  EXPECT_THAT(text, HasSubstr("\"nan\": \"NaN\""));
  EXPECT_THAT(text, HasSubstr("\"deviceProperties\": []"));
  EXPECT_THAT(text, HasSubstr(R"("a\"b": 1)")) << "keys are text, which is escaped";
  EXPECT_THAT(text, HasSubstr(R"("a\\n": 2)"));
  EXPECT_EQ(text.find("traceEvents"), text.rfind("traceEvents"));
}

TEST(RowWriter, WritesTheMembersOfARange) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 1'000'000, .duration = 2'500, .external_id = 7});
  add(builder,
      {.category = "user_annotation", .name = "mine", .start = 9'000'001, .external_id = 8});
  const Trace trace = finished(builder);
  EXPECT_THAT(rows(trace),
              ElementsAre(R"({"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,)"
                          R"("dur":2.5,"args":{"External id":7}})",
                          R"({"ph":"X","cat":"user_annotation","name":"mine","pid":1,"tid":1,)"
                          R"("ts":8000.001,"dur":0,"args":{"External id":8}})"));
}

TEST(RowWriter, WritesWhatElseTheFileSays) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "a", .external_id = 7});
  const EventId other = add(builder, {.category = "overhead", .name = "b"});
  const Trace trace = finished(builder);
  const RowWriter writer(trace, false);
  RowTexts texts = writer.texts();
  std::string json;
  writer.range(op, {",\"s\":\"t\"", ",\"own\":1", false}, texts, json);
  EXPECT_THAT(json, EndsWith(R"("dur":0,"s":"t","args":{"External id":7,"own":1}},)"
                             "\n"));
  json.clear();
  writer.range(other, {",\"s\":\"t\"", "", false}, texts, json);
  EXPECT_THAT(json, EndsWith("\"dur\":0,\"s\":\"t\"},\n")) << "no empty args";
  json.clear();
  writer.range(other, {"", ",\"own\":1", false}, texts, json);
  EXPECT_THAT(json, EndsWith("\"dur\":0,\"args\":{\"own\":1}},\n"));
}

TEST(RowWriter, WritesLaunchesAndWorkForThePlugin) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .duration = 90'000, .external_id = 7});
  add(builder, {.category = "cuda_driver",
                .name = "cuLaunchKernel",
                .start = 10'000,
                .duration = 5'000,
                .external_id = 7,
                .correlation = 3});
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = 50'000,
                .duration = 5'000,
                .thread = 7,
                .process = 0,
                .external_id = 7,
                .correlation = 3});
  add(builder, {.category = "cuda_runtime", .name = "cudaFree", .start = 200'000});
  const Trace trace = finished(builder);
  const std::vector<std::string> plugin = rows(trace);
  ASSERT_EQ(plugin.size(), 6u);
  EXPECT_THAT(plugin[1], HasSubstr(R"("cat":"Runtime")"));
  EXPECT_THAT(plugin[1], HasSubstr(R"("args":{"External id":7,"correlation":3})"));
  EXPECT_EQ(plugin[2], R"({"ph":"s","name":"ac2g","pid":1,"tid":1,"cat":"ac2g","id":1,"ts":10})");
  EXPECT_THAT(plugin[3], HasSubstr(R"("args":{"External id":7,"correlation":3,"device":0})"));
  EXPECT_EQ(plugin[4],
            R"({"ph":"f","name":"ac2g","pid":0,"tid":7,"cat":"ac2g","id":1,"ts":50,"bp":"e"})");
  EXPECT_THAT(plugin[5], HasSubstr(R"("External id":0)")) << "a launch without one is lost";
}

TEST(RowWriter, AddsALaunchThatIsMissingForThePlugin) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 5'000, .duration = 90'000, .external_id = 7});
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = 50'000,
                .duration = 5'000,
                .thread = 7,
                .process = 0,
                .external_id = 7});
  const Trace trace = finished(builder);
  const std::vector<std::string> plugin = rows(trace);
  ASSERT_EQ(plugin.size(), 3u);
  EXPECT_EQ(plugin[2],
            R"({"ph":"X","name":"launch that is not in the trace","pid":1,"tid":1,"cat":"Runtime",)"
            R"("ts":5,"dur":0,"args":{"External id":7,"correlation":8}})");
  EXPECT_THAT(written(trace).changes, ElementsAre(Pair("launches_added", 1)));
}

TEST(RowWriter, MarksTheWindowOfATraceWithoutOperators) {
  TraceBuilder builder;
  add(builder,
      {.category = "kernel", .name = "gemm", .start = 5'000, .duration = 90'000, .process = 0});
  const Trace trace = finished(builder);
  const std::vector<std::string> plugin = rows(trace);
  ASSERT_EQ(plugin.size(), 3u);
  EXPECT_THAT(plugin[1],
              HasSubstr(R"("window starts","pid":0,"tid":0,"cat":"Python","ts":5,"dur":0)"));
  EXPECT_THAT(plugin[2],
              HasSubstr(R"("window ends","pid":0,"tid":0,"cat":"Python","ts":95,"dur":0)"));
  EXPECT_THAT(written(trace).changes, ElementsAre(Pair("window_marked", 1)));
}

TEST(RowWriter, MarksAWindowAtTheFarthestTimeThatIsRead) {
  const Trace trace = fixtures::read(
      R"([{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":4611686018427387.903,"dur":0},)"
      R"({"ph":"i","name":"first","pid":0,"tid":7,"ts":2}])");
  const std::vector<std::string> plugin = rows(trace);
  ASSERT_EQ(plugin.size(), 3u);
  EXPECT_THAT(plugin[1], HasSubstr(R"("window starts","pid":0,"tid":0,"cat":"Python",)"
                                   R"("ts":4611686018427386.903,)"));
  EXPECT_THAT(plugin[2], HasSubstr(R"("window ends","pid":0,"tid":0,"cat":"Python",)"
                                   R"("ts":4611686018427387.903,)"));
}

TEST(RowWriter, CallsCollectivesByTheNamesThatThePluginKnows) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "nccl:_all_gather_base", .duration = 5'000});
  const Trace trace = finished(builder);
  EXPECT_THAT(rows(trace)[0], HasSubstr(R"("name":"nccl:all_gather")"));
  EXPECT_THAT(rows(trace)[0], HasSubstr(R"("Collective":"nccl:_all_gather_base")"));
}

TEST(RowWriter, HidesWhatThePluginFailsAt) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "ProfilerStep#x", .duration = 5'000});
  add(builder, {.category = "gpu_user_annotation", .name = "ProfilerStep#1", .process = 0});
  for (int depth = 0; depth < 200; ++depth) {
    add(builder, {.name = depth % 2 == 0 ? "a" : "b",
                  .start = 10'000 + depth * 10,
                  .duration = 900'000 - depth * 20,
                  .thread = 2});
  }
  const Trace trace = finished(builder);
  const std::vector<std::string> plugin = rows(trace);
  EXPECT_THAT(plugin[0], HasSubstr(R"("cat":"annotation")"));
  EXPECT_THAT(plugin[1], HasSubstr(R"("cat":"gpu_annotation")"));
  EXPECT_THAT(plugin[2 + 179], HasSubstr(R"("cat":"cpu_op")"));
  EXPECT_THAT(plugin[2 + 180], HasSubstr(R"("cat":"too_deep")"));
  EXPECT_THAT(written(trace).changes,
              ElementsAre(Pair("ranges_too_deep", 20), Pair("steps_hidden", 1)));
}

TEST(RowWriter, InfersStepsIfAsked) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "Iteration 4", .duration = 5'000});
  const Trace trace = finished(builder);
  EXPECT_THAT(written(trace).text, HasSubstr("Iteration 4"));
  const Written inferred = written(trace, true);
  EXPECT_THAT(inferred.text, HasSubstr(R"("name":"ProfilerStep#4")"));
  EXPECT_THAT(inferred.changes, ElementsAre(Pair("steps_inferred", 1)));
  const Trace again = fixtures::read(inferred.text);
  ASSERT_EQ(again.steps().size(), 1u);
  EXPECT_EQ(again.steps()[0].number, 4);
}

TEST(RowWriter, PutsRangesThatCrossOnNamedLanes) {
  TraceBuilder builder;
  add(builder, {.duration = 50'000, .external_id = 1});
  add(builder,
      {.category = "user_annotation", .start = 40'000, .duration = 50'000, .external_id = 2});
  const Trace trace = finished(builder);
  const std::vector<std::string> all = rows(trace);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[1], HasSubstr(R"("pid":1,"tid":1000000000,)"));
  EXPECT_EQ(all[2], R"({"ph":"M","name":"thread_name","pid":1,"tid":1000000000,)"
                    R"-("args":{"name":"thread 1 (lane 1)"}})-");
  EXPECT_THAT(written(trace).changes, ElementsAre(Pair("ranges_moved_to_lanes", 1)));
}

TEST(RowWriter, WritesMemoryOfDevicesThatThePluginKnows) {
  TraceBuilder builder;
  const auto memory = [&](std::int16_t type, std::int16_t id, bool out_of_memory = false) {
    MemoryRecord record;
    record.time_ns = 1'000;
    record.bytes = -512;
    record.device_type = DeviceType{type};
    record.device_id = id;
    record.out_of_memory = out_of_memory;
    record.track = fixtures::track(builder, 1, 1);
    builder.add_memory(record);
  };
  memory(0, -1);
  memory(1, 0);
  memory(20, 1);
  memory(1, 70, true);
  const Trace trace = finished(builder);
  const std::string start = R"({"ph":"i","name":"[memory]","pid":1,"tid":1,)"
                            R"("cat":"cpu_instant_event","s":"t","ts":1,"args":{)";
  const std::vector<std::string> plugin = rows(trace);
  ASSERT_EQ(plugin.size(), 4u);
  EXPECT_EQ(plugin[0], start + R"("Device Type":0,"Device Id":-1,"Bytes":-512}})");
  EXPECT_EQ(plugin[1], start + R"("Device Type":1,"Device Id":0,"Bytes":-512}})");
  EXPECT_EQ(plugin[2],
            start + R"("Device Type":1,"c10 Device Type":20,"Device Id":1,"Bytes":-512}})");
  EXPECT_THAT(plugin[3], HasSubstr(R"("name":"[OutOfMemory]")"));
  EXPECT_THAT(plugin[3], HasSubstr(R"("Device Id":2)")) << "there are 64 of them";
  EXPECT_THAT(written(trace).changes, ElementsAre(Pair("devices_renumbered", 1)));
}

TEST(RowWriter, WritesCallStacksOfFramesForThePlugin) {
  TraceBuilder builder;
  EventRow frame;
  frame.duration_ns = 90'000;
  frame.name = builder.intern("a.py(1): f");
  frame.track = fixtures::track(builder, 1, 1);
  frame.category = builder.category(builder.intern("python_function"));
  frame.flags = Events::kPythonFrame;
  builder.add_event(frame);
  const EventId op = add(builder, {.start = 10'000, .duration = 5'000});
  const Trace trace = finished(builder);
  EXPECT_THAT(rows(trace)[1], HasSubstr(R"("Call stack":"a.py(1): f")"));
  const RowWriter writer(trace, false);
  RowTexts texts = writer.texts();
  std::string json;
  writer.range(op, {"", R"(,"Call stack":"own")", true}, texts, json);
  EXPECT_THAT(json, Not(HasSubstr("a.py"))) << "the file's own stack stays";
}

TEST(RowWriter, EscapesHostileTexts) {
  for (const std::string_view name : fixtures::kHostileNames) {
    if (name == fixtures::kNotUtf8) continue;  // no trace holds it
    TraceBuilder builder;
    add(builder, {.name = name, .duration = 50'000});
    add(builder, {.category = name, .name = "b", .start = 60'000});
    add(builder,
        {.category = "user_annotation", .name = "crosses", .start = 40'000, .duration = 50'000});
    const TrackId named = builder.track({0, builder.intern(name)}, {0, builder.intern(name)});
    builder.name_thread(fixtures::track(builder, 1, 1), builder.intern(name));
    EventRow row;
    row.track = named;
    row.name = builder.intern("c");
    row.category = builder.category(builder.intern("cpu_op"));
    builder.add_event(row);
    const Trace trace = finished(builder);
    const Trace again = fixtures::read(written(trace).text);
    ASSERT_EQ(again.events().size(), 4u);
    EXPECT_EQ(again.name(EventId{0}), name);
    EXPECT_EQ(again.string(again.category(EventId{1}).name), name);
    EXPECT_EQ(again.string(again.track(again.events().track(EventId{3})).process_name), name);
    EXPECT_EQ(again.string(again.track(again.events().track(EventId{2})).thread_name),
              std::string(name) + " (lane 1)");
  }
}

TEST(RowWriter, KeepsTimesToTheNanosecond) {
  constexpr std::array<std::int64_t, 6> kFirst = {0,
                                                  -5'000'000'001,
                                                  1'790'857'026'123'456'789,
                                                  999'999,
                                                  4'350'000'000'000'000'123,
                                                  -4'350'000'000'000'000'123};
  constexpr std::array<std::int64_t, 4> kBases = {0, 1'790'857'026'000'000'000, -7, 1};
  for (unsigned seed = 0; seed < fixtures::random_rounds(200u); ++seed) {
    std::mt19937_64 random(seed);
    TraceBuilder builder;
    const std::int64_t first = kFirst[seed % kFirst.size()];
    for (int row = 0; row < 20; ++row) {
      add(builder, {.start = first + static_cast<std::int64_t>(random() % 5'000'000'000),
                    .duration = static_cast<std::int64_t>(random() % 3'000'000),
                    .thread = row});
    }
    builder.set_metadata("baseTimeNanoseconds", std::to_string(kBases[seed % kBases.size()]));
    const Trace trace = finished(builder);
    const Trace again = fixtures::read(written(trace).text);
    ASSERT_EQ(again.events().size(), 20u);
    for (std::size_t row = 0; row < 20; ++row) {
      const auto event = static_cast<EventId>(row);
      ASSERT_EQ(again.base_time_ns() + again.events().start_ns(event),
                trace.base_time_ns() + trace.events().start_ns(event));
      ASSERT_EQ(again.events().duration_ns(event), trace.events().duration_ns(event));
    }
    EXPECT_GE(again.first_time_ns(), 0);
    EXPECT_LT(again.first_time_ns(), 1'000'000) << "times start near 0";
  }
}

TEST(RowWriter, KeepsTimesThatAreFartherApartThanOneNumberHolds) {
  TraceBuilder builder;
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
  add(builder, {.start = -kFarthest, .duration = 5});
  add(builder, {.start = kFarthest - 5, .duration = 5, .thread = 2});
  const Trace again = fixtures::read(written(finished(builder)).text);
  EXPECT_EQ(fixtures::issue_counts(again), "");
  ASSERT_EQ(again.events().size(), 2u);
  EXPECT_EQ(again.events().start_ns(EventId{0}), -kFarthest);
  EXPECT_EQ(again.events().start_ns(EventId{1}), kFarthest - 5);
}

TEST(RowWriter, WritesTimesOfOtherRowsHoweverFarTheyAre) {
  TraceBuilder builder;
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
  add(builder, {.start = -kFarthest, .duration = 5});
  const Trace trace = finished(builder);
  const RowWriter writer(trace, false);
  std::string json;
  writer.time(kFarthest, json);
  EXPECT_EQ(json, ",\"ts\":4611686018427387.903");
}

}  // namespace
}  // namespace tbtrace::chrome
