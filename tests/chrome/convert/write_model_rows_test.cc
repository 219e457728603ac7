#include "chrome/convert/write_model_rows.h"

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "analyses/random_recording.h"
#include "fixtures/failing_sink.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/trace_rows.h"
#include "fixtures/whole_file.h"
#include "wire/json_strict.h"

namespace tbtrace::chrome {
namespace {

using analyses::RandomRecording;
using fixtures::add;
using fixtures::finished;
using fixtures::ScratchFolder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string document(const Trace& trace, Dialect dialect = Dialect::kineto) {
  std::string text;
  const auto sink = io::memory_sink(text);
  EXPECT_TRUE(write_model_rows(trace, dialect, false, *sink).ok());
  std::string copy;
  EXPECT_TRUE(wire::append_strict_json(copy, text, true)) << text;
  return text;
}

TEST(ModelRows, FramesInADeepNestFindTheirParentsInOneStep) {
  // Going up from every frame takes minutes.
  const auto deep = fixtures::many_rows<std::int64_t>(400'000);
  TraceBuilder builder;
  const auto add_frame = [&](std::int64_t start, std::int64_t duration) {
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.name = builder.intern("f");
    row.track = fixtures::track(builder, 1, 1);
    row.category = builder.category(builder.intern("python_function"));
    row.flags = Events::kPythonFrame;
    builder.add_event(row);
  };
  add_frame(0, 5 * deep);
  for (std::int64_t depth = 1; depth <= deep; ++depth) {
    add(builder, {.start = depth, .duration = 5 * deep - 2 * depth});
  }
  for (std::int64_t number = 0; number < 2 * deep; ++number) add_frame(deep + 1 + number, 1);
  const Trace trace = finished(builder);
  std::string text;
  ASSERT_TRUE(write_model_rows(trace, Dialect::kineto, false, *io::memory_sink(text)).ok());
  std::size_t frames = 0;
  constexpr std::string_view kParent = "\"Python parent id\":1}";
  for (std::size_t at = text.find(kParent); at != std::string::npos;
       at = text.find(kParent, at + 1)) {
    ++frames;
  }
  EXPECT_EQ(frames, 2 * static_cast<std::size_t>(deep));
}

TEST(ModelRows, HoldWhatTheModelHolds) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "aten::mm", .duration = 50'000, .external_id = 4});
  builder.add_argument(op, Argument::input_dims, builder.intern("[[2, 3], []]"));
  builder.add_argument(op, Argument::input_types, builder.intern(R"(["float", "Scalar"])"));
  builder.add_argument(op, Argument::concrete_inputs, builder.intern(R"(["", "1"])"));
  builder.add_argument(op, Argument::sequence_number, std::int64_t{7});
  builder.add_argument(op, Argument::forward_thread, std::int64_t{3});
  builder.add_argument(op, Argument::call_stack, builder.intern("a \"b\";c;"));
  EventRow open;
  open.start_ns = 60'000;
  open.name = builder.intern("open");
  open.track = fixtures::track(builder, 1, 1);
  open.category = builder.category(builder.intern("cpu_op"));
  open.flags = Events::kUnfinished;
  builder.add_event(open);
  builder.name_process({1, StringId::empty}, builder.intern("py \"thon\""));
  builder.name_thread(fixtures::track(builder, 1, 1), builder.intern("main"));
  const std::string text = document(finished(builder));
  EXPECT_THAT(text, HasSubstr(R"("args":{"External id":4,"Sequence number":7,"Fwd thread id":3,)"
                              R"("Input Dims":[[2,3],[]],"Input type":["float","Scalar"],)"
                              R"("Concrete Inputs":["","1"],"Call stack":"a \"b\";c;"})"));
  EXPECT_THAT(text, HasSubstr(R"("finished":false)"));
  EXPECT_THAT(text, HasSubstr(R"({"ph":"M","name":"process_name","pid":1,"tid":1,"ts":0,)"
                              R"("args":{"name":"py \"thon\""}})"));
  EXPECT_THAT(text, HasSubstr(R"({"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,)"
                              R"("args":{"name":"main"}})"));
}

TEST(ModelRows, KeepInputsThatAreNoJsonAsTexts) {
  TraceBuilder builder;
  const EventId op = add(builder, {.name = "a"});
  builder.add_argument(op, Argument::input_dims, builder.intern("[[2, 3"));
  builder.add_argument(op, Argument::input_types, builder.intern("float"));
  const std::string text = document(finished(builder));
  EXPECT_THAT(text, HasSubstr(R"("Input Dims":"[[2, 3","Input type":"float"})"));
}

TEST(ModelRows, OfFramesAndModulesStayThose) {
  TraceBuilder builder;
  const auto frame = [&](std::string_view name, std::int64_t start, std::int64_t duration,
                         std::uint8_t flags) {
    EventRow row;
    row.start_ns = start;
    row.duration_ns = duration;
    row.name = builder.intern(name);
    row.track = fixtures::track(builder, 1, 1);
    row.category = builder.category(builder.intern("python_function"));
    row.flags = flags;
    builder.add_event(row);
  };
  constexpr std::uint8_t kModule = Events::kPythonFrame | Events::kModule;
  frame("main.py(1): f", 0, 90'000, Events::kPythonFrame);
  frame("nn.Module: Net_0", 10'000, 50'000, kModule);
  add(builder, {.name = "aten::mm", .start = 15'000, .duration = 30'000});
  frame("nn.Module: Linear_0", 20'000, 10'000, kModule);
  frame("gc", 95'000, 1'000, 0);
  const std::string text = document(finished(builder));
  const Trace again = fixtures::read(text);
  const Events& events = again.events();
  for (const std::uint32_t row : {0u, 1u, 3u}) EXPECT_TRUE(events.is_python_frame(EventId{row}));
  for (const std::uint32_t row : {1u, 3u}) EXPECT_TRUE(events.is_module(EventId{row}));
  EXPECT_FALSE(events.is_module(EventId{0}));
  EXPECT_FALSE(events.is_python_frame(EventId{4}));
  EXPECT_THAT(text, HasSubstr(R"("Python id":1,"Python parent id":null})"));
  EXPECT_THAT(text, HasSubstr(R"("Python id":4,"Python parent id":2,"Python module id":)"));
}

/// What a recording holds of a range, whatever its ids are.
using RangeOfKind = std::tuple<std::string, std::int64_t, std::int64_t, EventKind>;

std::vector<RangeOfKind> ranges(const Trace& trace) {
  std::vector<RangeOfKind> ranges;
  for (std::size_t row = 0; row < trace.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    ranges.emplace_back(trace.name(event), trace.base_time_ns() + trace.events().start_ns(event),
                        trace.events().duration_ns(event), trace.kind(event));
  }
  return ranges;
}

TEST(ModelRows, OfRandomRecordingsReadAgain) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    const Trace trace =
        RandomRecording(seed, {.shadows = true, .unfinished = true, .arguments = true}).make();
    const Trace again = fixtures::read(document(trace));
    SCOPED_TRACE(seed);
    ASSERT_EQ(fixtures::issue_counts(again), "");
    std::vector<RangeOfKind> before = ranges(trace);
    const std::vector<RangeOfKind> after = ranges(again);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t row = 0; row < before.size(); ++row) {
      // Ranges of the host may end a little earlier.
      ASSERT_LE(std::get<2>(after[row]), std::get<2>(before[row]));
      std::get<2>(before[row]) = std::get<2>(after[row]);
    }
    ASSERT_EQ(before, after);
    for (const Argument which : {Argument::input_dims, Argument::call_stack}) {
      ASSERT_EQ(again.argument(which).size(), trace.argument(which).size());
    }
    ASSERT_EQ(again.memory().size(), trace.memory().size());
    ASSERT_EQ(again.steps().size(), trace.steps().size());
    for (std::size_t row = 0; row < trace.memory().size(); ++row) {
      ASSERT_EQ(again.memory()[row].bytes, trace.memory()[row].bytes);
      ASSERT_EQ(again.memory()[row].device_type, trace.memory()[row].device_type);
    }
  }
}

TEST(ModelRows, TellWhereTheSinkFails) {
  TraceBuilder builder;
  for (int row = 0; row < 9000; ++row) add(builder, {.name = "a", .start = row * 1000});
  const Trace trace = finished(builder);
  const std::size_t size = document(trace).size();
  for (const std::size_t room : {std::size_t{0}, size / 2, size - 1}) {
    fixtures::SinkLog log;
    fixtures::FailingSink sink(log, room);
    EXPECT_EQ(write_model_rows(trace, Dialect::kineto, false, sink).status().message(),
              "the disk is full");
    EXPECT_EQ(log.writes_after_failure, 0);
    EXPECT_EQ(log.closes, 0);
  }
}

TEST(WriteChromeTrace, WritesAFileThatReadsAgain) {
  const ScratchFolder folder;
  const Trace trace = RandomRecording(7, {}).make();
  for (const std::string_view name : {"plain.json", "packed.json.gz"}) {
    const Result<Changes> changes = write_chrome_trace(trace, folder.path(name));
    ASSERT_TRUE(changes.ok()) << changes.status().message();
    const Result<Trace> again = read_trace(folder.path(name));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(fixtures::names(*again), fixtures::names(trace));
  }
  EXPECT_EQ(fixtures::read_whole_file(folder.path("plain.json")).front(), '{');
  EXPECT_EQ(fixtures::read_whole_file(folder.path("packed.json.gz")).front(), '\x1f');
}

TEST(WriteChromeTrace, OverwritesOnlyIfAsked) {
  const ScratchFolder folder;
  const Trace trace = RandomRecording(7, {}).make();
  fixtures::write_whole_file(folder.path("t.json"), "precious");
  const Result<Changes> refused = write_chrome_trace(trace, folder.path("t.json"));
  EXPECT_EQ(refused.status().code(), StatusCode::output_exists);
  EXPECT_EQ(fixtures::read_whole_file(folder.path("t.json")), "precious");
  EXPECT_TRUE(write_chrome_trace(trace, folder.path("t.json"), {.overwrite = true}).ok());
  EXPECT_THAT(fixtures::read_whole_file(folder.path("t.json")), Not(HasSubstr("precious")));
}

TEST(WriteChromeTrace, IsTheSameInAStream) {
  const ScratchFolder folder;
  const Trace trace = RandomRecording(7, {}).make();
  const Result<Changes> in_file = write_chrome_trace(trace, folder.path("t.json"));
  std::ostringstream stream;
  const Result<Changes> in_stream = write_chrome_trace(trace, stream);
  ASSERT_TRUE(in_file.ok() && in_stream.ok());
  EXPECT_EQ(*in_file, *in_stream);
  EXPECT_EQ(stream.str(), fixtures::read_whole_file(folder.path("t.json")));
  stream.setstate(std::ios::badbit);
  EXPECT_EQ(write_chrome_trace(trace, stream).status().code(), StatusCode::unwritable_output);
}

TEST(WriteChromeTrace, LeavesNothingWhereItFails) {
  const ScratchFolder folder;
  const Trace trace = RandomRecording(7, {}).make();
  EXPECT_FALSE(write_chrome_trace(trace, folder.path("missing/t.json")).ok());
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(WriteLogDirectory, MakesALogDirectoryOfOneFile) {
  const ScratchFolder folder;
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 1'000'000, .duration = 5'000});
  builder.set_metadata("baseTimeNanoseconds", "1790857026000000000");
  const Trace trace = finished(builder);
  const Result<std::vector<LogFile>> files = write_log_directory(
      trace, folder.path("log"), {.format = LogFormat::plugin, .run = "mine", .worker = "host_0"});
  ASSERT_TRUE(files.ok()) << files.status().message();
  ASSERT_EQ(files->size(), 1u);
  const LogFile* const file = files->data();
  EXPECT_EQ(file->run, "mine");
  EXPECT_EQ(file->worker, "host_0");
  EXPECT_EQ(file->span, 1790857026001000000);
  EXPECT_EQ(file->path, folder.path("log/mine/host_0.1790857026001000000.pt.trace.json.gz"));
  EXPECT_EQ(file->bytes, fixtures::read_whole_file(file->path).size());
  const Result<Trace> again = read_trace(file->path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(fixtures::names(*again), std::vector<std::string>{"aten::mm"});
  const Result<std::vector<LogFile>> twice = write_log_directory(
      trace, folder.path("log"), {.format = LogFormat::plugin, .run = "mine", .worker = "host_0"});
  EXPECT_EQ(twice.status().code(), StatusCode::output_exists);
  EXPECT_TRUE(
      write_log_directory(
          trace, folder.path("log"),
          {.format = LogFormat::plugin, .run = "mine", .worker = "host_0", .overwrite = true})
          .ok());
  EXPECT_THAT(folder.names(), testing::ElementsAre("log"));
}

TEST(WriteLogDirectory, HasNamesWithoutBeingTold) {
  const ScratchFolder folder;
  TraceBuilder builder;
  add(builder, {.name = "a", .start = -5'000});
  const Result<std::vector<LogFile>> files = write_log_directory(
      finished(builder), folder.path("log"), {.format = LogFormat::plugin, .use_gzip = false});
  ASSERT_TRUE(files.ok()) << files.status().message();
  ASSERT_EQ(files->size(), 1u);
  const LogFile* const file = files->data();
  EXPECT_EQ(file->run, "traces");
  EXPECT_EQ(file->worker, "trace");
  EXPECT_EQ(file->span, 0) << "before 1970 there was no profiler";
  EXPECT_EQ(fixtures::read_whole_file(file->path).front(), '{');
}

}  // namespace
}  // namespace tbtrace::chrome
