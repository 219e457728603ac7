#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "recorder/log/inputs.h"
#include "recorder/log/range_arguments.h"
#include "recorder/window/hand_written.h"
#include "recorder/window/read_window.h"
#include "recorder/window/rows.h"
#include "trace/event_batch.h"

namespace tbtrace::recorder {
namespace {

using namespace std::string_view_literals;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Names of the ranges, in their order; the last event is the profiler's own.
std::vector<std::string> names_of(const Trace& trace) {
  std::vector<std::string> names;
  for (std::uint32_t row = 0; row < trace.events().size(); ++row) {
    names.emplace_back(trace.name(EventId{row}));
  }
  EXPECT_EQ(names.empty() ? "" : names.back(), "PyTorch Profiler (0)");
  if (!names.empty()) names.pop_back();
  return names;
}

/// The line of the text that has this in it.
std::string line_with(const std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "none";
  const std::size_t start = text.rfind('\n', at) + 1;
  return text.substr(start, text.find('\n', at) - start);
}

TEST(WindowFile, OfAnEmptyWindowIsATraceWithoutRanges) {
  const WindowPointer window = HandWritten().window();
  const Trace trace = read(window);
  EXPECT_THAT(names_of(trace), IsEmpty());
  EXPECT_THAT(trace.memory(), IsEmpty());
  EXPECT_THAT(trace.flows(), IsEmpty());
  EXPECT_TRUE(trace.has_window());
  EXPECT_EQ(trace.base_time_ns() + trace.window_start_ns(), window->start_ns());
  EXPECT_EQ(trace.base_time_ns() + trace.window_end_ns(), window->end_ns());
}

TEST(WindowFile, TimesAreExactToTheNanosecond) {
  HandWritten written;
  auto thread = written.thread();
  for (std::uint64_t at = 0; at < 3000; ++at) thread.range(7 * at, 7 * at + at % 5, "op");
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  ASSERT_EQ(trace.events().size(), 3001U);
  for (std::uint32_t row = 0; row < 3000; ++row) {
    const Window::Range& range = window->ranges()[row];
    const EventId event{row};
    ASSERT_EQ(trace.base_time_ns() + trace.events().start_ns(event),
              window->unix_ns(range.start_ticks));
    ASSERT_EQ(trace.base_time_ns() + trace.events().end_ns(event),
              window->unix_ns(range.end_ticks));
  }
}

TEST(WindowFile, NamesOfHostileBytesAreKept) {
  const std::vector<std::string> names = {std::string("\0zero\0"sv),
                                          R"("quotes", "pid": 7, "ts": 8)",
                                          "\\",
                                          "\\\"\\n\\u0041\\u12",
                                          "line\nbreak\r\n\t\b\f\x1f\x7f",
                                          "</script><!--",
                                          "}]}, {\"ph\": \"X\"",
                                          "\u00e4\u4e2d\U0001f525",
                                          std::string(1'000'000, '"'),
                                          "x"};
  HandWritten written;
  auto thread = written.thread();
  std::uint64_t at = 0;
  for (const std::string& name : names) {
    thread.range(at, at + 1, name, {.scope = at % 4 == 0 ? Scope::user : Scope::function});
    at += 2;
  }
  const Trace trace = read(written.window());
  EXPECT_TRUE(names_of(trace) == names);
  EXPECT_EQ(trace.kind(EventId{0}), EventKind::user_annotation);
  EXPECT_EQ(trace.kind(EventId{1}), EventKind::cpu_op);
}

TEST(WindowFile, BytesThatAreNoUtf8AreReplaced) {
  HandWritten written;
  auto thread = written.thread(5, 0, "\xff\"");
  thread.range(1, 2, "a\xff\xfe z\xc3");
  thread.range(3, 4, "\xed\xa0\x80");
  thread.range(5, 6, "\xc0\x80");
  const Trace trace = read(written.window());
  EXPECT_THAT(names_of(trace),
              ElementsAre("a\ufffd\ufffd z\ufffd", "\ufffd\ufffd\ufffd", "\ufffd\ufffd"));
  EXPECT_EQ(trace.string(trace.track(trace.events().track(EventId{0})).thread_name),
            "thread 5 (\ufffd\")");
}

TEST(WindowFile, ThreadsHaveTheirNumbersAndNames) {
  HandWritten written;
  auto main = written.thread(::getpid(), 1, "trainer");
  auto loader = written.thread(4242, 2, "loader");
  main.range(1, 2, "a");
  loader.range(3, 4, "b");
  const Trace trace = read(written.window());
  const Track& first = trace.track(trace.events().track(EventId{0}));
  const Track& second = trace.track(trace.events().track(EventId{1}));
  EXPECT_EQ(first.process.number, ::getpid());
  EXPECT_EQ(first.thread.number, ::getpid());
  EXPECT_EQ(trace.string(first.process_name), "trainer");
  EXPECT_EQ(second.thread.number, 4242);
  EXPECT_EQ(trace.string(second.thread_name), "thread 4242 (loader)");
}

TEST(WindowFile, InputsAreWrittenAsTorchWritesThem) {
  InputsWriter inputs;
  inputs.tensor(1, std::array<std::int64_t, 2>{32, 28}, std::array<std::int64_t, 2>{28, 1});
  inputs.real(0.1);
  const BeginRecord with_inputs = {.inputs = inputs.data(),
                                   .inputs_size = static_cast<std::uint32_t>(inputs.size())};
  HandWritten written({.record_shapes = true, .element_types = {"double", "float"}});
  auto thread = written.thread();
  thread.range(1, 2, "without");
  thread.range(3, 4, "with", with_inputs);
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  EXPECT_EQ(trace.argument(Argument::input_dims).size(), 1U);
  EXPECT_EQ(trace.argument_text(EventId{1}, Argument::input_dims), "[[32, 28], []]");
  EXPECT_EQ(trace.argument_text(EventId{1}, Argument::input_types), R"(["float", "Scalar"])");
  EXPECT_EQ(trace.argument_text(EventId{1}, Argument::concrete_inputs),
            R"(["", "0.10000000000000001"])");
  EXPECT_THAT(line_with(text_of(window), "\"with\""),
              HasSubstr(R"("Input Strides":[[28, 1], []])"));
}

TEST(WindowFile, WhatAProgramSaysOfARangeIsOneArgument) {
  RangeArgumentsWriter said;
  said.add("batch", std::int64_t{16});
  said.add("External id", std::int64_t{99});
  said.add("\"quoted\"", "</script>\n"sv);
  HandWritten written;
  auto thread = written.thread();
  thread.range(1, 2, "forward", {.scope = Scope::user, .arguments = said.bytes()});
  thread.range(3, 4, "without", {.scope = Scope::user});
  const Trace trace = read(written.window(), {ArgumentGroup::annotations});
  EXPECT_EQ(trace.argument(Argument::range_arguments).size(), 1U);
  EXPECT_EQ(trace.argument_text(EventId{0}, Argument::range_arguments),
            R"({"batch": 16, "External id": 99, "\"quoted\"": "</script>\n"})");
  EXPECT_NE(trace.external_id(EventId{0}), 99);
}

TEST(WindowFile, InstantsAndCountersAreNeitherRangesNorMemory) {
  RangeArgumentsWriter said;
  said.add("epoch", std::int64_t{3});
  HandWritten written({.profile_memory = true});
  auto thread = written.thread(7);
  thread.range(1, 2, "op");
  const auto write_instant = [&](std::string_view name, std::string_view arguments) {
    write(*thread.log(), InstantRecord{.ticks = written.start() + 5,
                                       .name = thread.log()->names().find(name),
                                       .arguments = arguments});
  };
  write_instant("saved \"model\"", said.bytes());
  write_instant("[memory]", {});
  for (const double value : {0.25, std::numeric_limits<double>::quiet_NaN()}) {
    write(*thread.log(), CounterRecord{.ticks = written.start() + 6,
                                       .name = thread.log()->names().find("loss"),
                                       .value = value});
  }
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  EXPECT_THAT(names_of(trace), ElementsAre("op"));
  EXPECT_THAT(trace.memory(), IsEmpty());
  std::vector<std::string> instants;
  for (const Instant& instant : instants_of(trace)) {
    instants.push_back(std::string(trace.string(instant.name)) + " " +
                       std::string(trace.string(instant.arguments)));
  }
  EXPECT_THAT(instants,
              ElementsAre(R"(saved "model" {"Arguments": {"epoch": 3}})", "[memory] (instant) {}",
                          "Iteration Start: PyTorch Profiler ", "Record Window End "));
  ASSERT_EQ(counter_values_of(trace).size(), 1u) << "nothing shows how high NaN is";
  EXPECT_EQ(counter_values_of(trace)[0].value, 0.25);
  EXPECT_EQ(trace.string(counter_values_of(trace)[0].name), "loss");
  const std::string text = text_of(window);
  EXPECT_THAT(line_with(text, "saved"),
              HasSubstr(R"({"ph":"i","s":"t","name":"saved \"model\"",)"));
  EXPECT_THAT(line_with(text, "saved"), HasSubstr(R"("tid":7,)"));
  EXPECT_THAT(line_with(text, "saved"), HasSubstr(R"("args":{"Arguments":{"epoch": 3}}})"));
  EXPECT_THAT(line_with(text, "[memory]"), HasSubstr("\"name\":\"[memory] (instant)\""));
  EXPECT_THAT(line_with(text, "loss"), HasSubstr(R"({"ph":"C","name":"loss",)"));
  EXPECT_THAT(line_with(text, "loss"), HasSubstr(R"("args":{"value":0.25}})"));
  EXPECT_THAT(text, HasSubstr(R"("args":{"value":"NaN"}})"));
}

TEST(WindowFile, OpenAndAsynchronousRangesAreMarked) {
  HandWritten written;
  auto one = written.thread(1);
  auto other = written.thread(2);
  one.begin(1, 10, "open");
  one.begin(2, 11, "async");
  other.end(3, 11);
  one.range(4, 5, "plain");
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  EXPECT_THAT(names_of(trace), ElementsAre("open", "async", "plain"));
  EXPECT_TRUE(trace.events().unfinished(EventId{0}));
  EXPECT_EQ(trace.base_time_ns() + trace.events().end_ns(EventId{0}), window->end_ns());
  EXPECT_FALSE(trace.events().unfinished(EventId{1}));
  EXPECT_FALSE(trace.events().unfinished(EventId{2}));
  const std::string text = text_of(window);
  for (const std::string name : {"open", "async", "plain"}) {
    EXPECT_EQ(line_with(text, '"' + name + '"').find("asynchronous") != std::string::npos,
              name == "async");
  }
}

TEST(WindowFile, AutogradsNumbersAndArrowsAreThere) {
  HandWritten written;
  auto main = written.thread(1, 1);
  auto autograd = written.thread(2, 2);
  main.range(1, 2, "add", {.sequence_number = 5});
  autograd.range(3, 4, "AddBackward0",
                 {.scope = Scope::backward_function, .sequence_number = 5, .forward_thread = 1});
  const Trace trace = read(written.window());
  EXPECT_EQ(trace.argument(Argument::sequence_number).size(), 2U);
  EXPECT_EQ(trace.argument(Argument::sequence_number).integer(EventId{0}), 5);
  EXPECT_EQ(trace.argument(Argument::forward_thread).integer(EventId{0}), 0);
  EXPECT_EQ(trace.argument(Argument::forward_thread).integer(EventId{1}), 1);
  ASSERT_THAT(trace.flows(), SizeIs(2));
  for (const FlowEnd& flow : trace.flows()) {
    const EventId event{flow.start ? 0U : 1U};
    EXPECT_EQ(flow.type, FlowEnd::Type::forward_backward);
    EXPECT_EQ(flow.id, 1);
    EXPECT_EQ(flow.time_ns, trace.events().start_ns(event));
    EXPECT_EQ(flow.track, trace.events().track(event));
  }
}

TEST(WindowFile, MemoryStandsBetweenTheRanges) {
  HandWritten written({.profile_memory = true});
  auto thread = written.thread();
  thread.range(1, 2, "before");
  thread.memory(30'000, 4096);
  thread.memory(40'000, -4096);
  thread.range(50'000, 50'001, "after");
  const WindowPointer window = written.window();
  const Trace trace = read(window);
  EXPECT_THAT(names_of(trace), ElementsAre("before", "after"));
  ASSERT_THAT(trace.memory(), SizeIs(2));
  EXPECT_EQ(trace.memory()[0].bytes, 4096);
  EXPECT_EQ(trace.memory()[1].bytes, -4096);
  EXPECT_EQ(trace.base_time_ns() + trace.memory()[0].time_ns,
            window->unix_ns(window->memory()[0].event.ticks));
  EXPECT_EQ(trace.memory()[0].event_rank, 2U) << "the range before it is the first";
  EXPECT_TRUE(trace.is_set("profile_memory"));
  EXPECT_FALSE(trace.is_set("record_shapes"));
}

TEST(WindowFile, MemoryOfDevicesStandsWhereItsThreadAskedForIt) {
  HandWritten written({.profile_memory = true});
  auto thread = written.thread(11);
  auto other = written.thread(12);
  thread.memory(30'000, 4096, 0x7000);
  using Kind = AllocatorEvent::Kind;
  DeviceMemory memory;
  std::int64_t allocated = 10'000;
  const auto tell = [&](Kind kind, int device, std::int64_t bytes, std::uint64_t at,
                        const ThreadLog* log) {
    memory.add({.kind = kind, .device = device, .address = 0x7000, .requested = bytes},
               {.allocated = allocated, .active = allocated, .reserved = 1 << 21},
               written.start() + at, log);
  };
  memory.start(1, {.allocated = 10'512, .active = 10'512});
  tell(Kind::free, 1, 512, 40'000, other.log());
  tell(Kind::allocate, 0, 1024, 20'000, thread.log());
  tell(Kind::free, 1, 512, 45'000, nullptr);
  allocated = 11'024;
  tell(Kind::out_of_memory, 0, 1 << 30, 50'000, thread.log());
  written.recording->add_device_memory(std::move(memory));
  const WindowPointer window = written.window();
  const std::string text = text_of(window);
  EXPECT_THAT(line_with(text, R"("Device Type":0)"),
              HasSubstr(R"("Device Id":-1,"Addr":28672,"Bytes":4096,)"
                        R"("Total Allocated":4096,"Total Reserved":0)"));
  EXPECT_THAT(line_with(text, R"("Device Id":0)"),
              HasSubstr(R"("Device Type":1,"Device Id":0,"Addr":28672,"Bytes":1024,)"
                        R"("Total Allocated":11024,"Total Reserved":2097152)"));
  EXPECT_THAT(line_with(text, R"("Device Id":1)"),
              HasSubstr(R"("Device Type":1,"Device Id":1,"Addr":28672,"Bytes":-512,)"
                        R"("Total Allocated":10000,"Total Reserved":2097152)"));
  EXPECT_THAT(line_with(text, R"("Device Id":1)"), HasSubstr(R"("tid":12)"));
  const Trace trace = read(window);
  ASSERT_THAT(trace.memory(), SizeIs(4));
  EXPECT_EQ(trace.memory()[0].device_id, 0) << "by time";
  EXPECT_THAT(line_with(text, "[OutOfMemory]"),
              HasSubstr(R"("args":{"Device Type":1,"Device Id":0,"Bytes":1073741824,)"
                        R"("Total Allocated":11024,"Total Reserved":2097152)"));
  EXPECT_TRUE(trace.memory()[3].out_of_memory);
}

TEST(WindowFile, OperatorsAreNamedWithTheirOverloadIfAskedFor) {
  HandWritten written;
  auto thread = written.thread();
  ThreadLog& log = *thread.log();
  for (const char* const overload : {"Tensor", ""}) {
    write(log, BeginRecord{.ticks = written.start() + 1,
                           .name = log.names().find("aten::add", overload),
                           .key = 8});
    write(log, EndRecord{.ticks = written.start() + 2, .key = 8});
  }
  const WindowPointer window = written.window();
  const auto names_of = [&](bool with_overloads) {
    const std::string all = text_of(window, with_overloads);
    return std::pair(all.find(R"("name":"aten::add.Tensor")") != all.npos,
                     all.find(R"("name":"aten::add",)") != all.npos);
  };
  EXPECT_EQ(names_of(false), std::pair(false, true));
  EXPECT_EQ(names_of(true), std::pair(true, true));
}

}  // namespace
}  // namespace tbtrace::recorder
