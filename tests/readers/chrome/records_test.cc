// Rows of a Chrome trace that are no ranges: memory records, arrows, names of processes and
// threads.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::describe;
using fixtures::in_quotes;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::op;

using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

/// A record as Kineto writes it.
ChromeEvent memory(std::string_view time, std::string_view bytes) {
  ChromeEvent event;
  event.with("ph", "\"i\"").with("cat", "\"cpu_instant_event\"").with("s", "\"t\"");
  event.with("name", "\"[memory]\"").with("pid", "1").with("tid", "2").with("ts", time);
  event.arg("Total Allocated", "99").arg("Bytes", bytes).arg("Addr", "140368640");
  return event.arg("Device Id", "-1").arg("Device Type", "0").arg("Ev Idx", "4");
}

TEST(ChromeMemory, IsReadFromInstants) {
  const Trace trace = read(trace_text({memory("10.001", "-512"), memory("3", "64")}));
  EXPECT_EQ(issue_counts(trace), "");
  EXPECT_EQ(trace.events().size(), 0u);
  ASSERT_EQ(trace.memory().size(), 2u);
  const MemoryRecord& first = trace.memory()[0];
  EXPECT_EQ(first.time_ns, 3'000) << "records are by time";
  EXPECT_EQ(first.bytes, 64);
  EXPECT_EQ(first.total_allocated_bytes, 99);
  EXPECT_EQ(first.event_rank, 5u) << "Ev Idx + 1";
  EXPECT_EQ(first.device_type, DeviceType::cpu);
  EXPECT_EQ(first.device_id, -1);
  EXPECT_FALSE(first.out_of_memory);
  EXPECT_EQ(describe(trace, trace.track(first.track).thread), "2");
  EXPECT_EQ(trace.memory()[1].bytes, -512);
}

TEST(ChromeMemory, IsTheSameFromTheWriterInPython) {
  ChromeEvent range = memory("3", "64");
  range.with("ph", "\"X\"").with("dur", "1224.956");
  EXPECT_EQ(describe(read(trace_text({range}))), describe(read(trace_text({memory("3", "64")}))));
}

TEST(ChromeMemory, IsReadWithoutACategoryAndWithoutArguments) {
  // As torch wrote it in 2021, without `Addr`; and with nothing at all.
  ChromeEvent old = memory("3", "64").without("cat");
  old.arguments = {{"Device Type", "1"}, {"Device Id", "0"}, {"Bytes", "64"}};
  ChromeEvent bare = memory("4", "0");
  bare.arguments.clear();
  const Trace trace = read(trace_text({old, bare}));
  ASSERT_EQ(trace.memory().size(), 2u);
  EXPECT_EQ(trace.memory()[0].device_type, DeviceType::cuda);
  EXPECT_EQ(trace.memory()[0].device_id, 0);
  EXPECT_EQ(trace.memory()[0].event_rank, 0u);
  EXPECT_EQ(trace.memory()[0].total_allocated_bytes, -1);
  EXPECT_EQ(trace.memory()[1].bytes, 0);
  EXPECT_EQ(trace.memory()[1].device_id, -1);
}

TEST(ChromeMemory, TellsFailedAllocations) {
  const Trace trace =
      read(trace_text({memory("3", "64").with("name", "\"[OutOfMemory]\""), memory("4", "1")}));
  ASSERT_EQ(trace.memory().size(), 2u);
  EXPECT_TRUE(trace.memory()[0].out_of_memory);
  EXPECT_FALSE(trace.memory()[1].out_of_memory);
}

TEST(ChromeMemory, IsNoRangeThatIsOnlyCalledSo) {
  const Trace trace =
      read(trace_text({op("[memory]").with("cat", "\"user_annotation\""), op("[OutOfMemory]"),
                       op("x").with("cat", "\"cpu_instant_event\"")}));
  EXPECT_THAT(names(trace), ElementsAre("[memory]", "[OutOfMemory]", "x"));
  EXPECT_TRUE(trace.memory().empty());
}

TEST(ChromeMemory, TakesNumbersOutOfRangeForUnknown) {
  const Trace trace = read(trace_text({memory("3", "99999999999999999999999")
                                           .arg("Device Type", "40000")
                                           .arg("Device Id", "-99999")
                                           .arg("Total Allocated", "-7")
                                           .arg("Ev Idx", "4294967295"),
                                       memory("4", "9223372036854775807")}));
  EXPECT_EQ(issue_counts(trace), "argument_unreadable 1") << "of `Bytes`, which is too large";
  ASSERT_EQ(trace.memory().size(), 2u);
  EXPECT_EQ(trace.memory()[0].bytes, 0);
  EXPECT_EQ(trace.memory()[0].total_allocated_bytes, -1);
  EXPECT_EQ(trace.memory()[0].device_type, DeviceType{-1});
  EXPECT_EQ(trace.memory()[0].device_id, -1);
  EXPECT_EQ(trace.memory()[0].event_rank, 0u);
  EXPECT_EQ(trace.memory()[1].bytes, INT64_MAX);
}

TEST(ChromeMemory, IsLeftOutWithoutATime) {
  EXPECT_EQ(issue_counts(read(trace_text({memory("soon", "1")}))), "time_unreadable 1");
  EXPECT_EQ(issue_counts(read(trace_text({memory("1", "1").without("ts")}))), "event_incomplete 1");
}

ChromeEvent arrow(std::string_view phase, std::string_view id, std::string_view category = "ac2g") {
  ChromeEvent event;
  event.with("ph", in_quotes(phase)).with("id", id).with("pid", "1").with("tid", "1");
  event.with("ts", "5").with("cat", in_quotes(category)).with("name", in_quotes(category));
  return event.with("bp", "\"e\"");
}

TEST(ChromeArrows, AreReadInTheOrderOfTheFile) {
  const Trace trace =
      read(trace_text({arrow("f", "7"), arrow("s", "7"), arrow("t", "7"), arrow("s", "-3")}));
  EXPECT_EQ(issue_counts(trace), "");
  ASSERT_EQ(trace.flows().size(), 3u);
  EXPECT_EQ(trace.flows()[0].id, 7);
  EXPECT_FALSE(trace.flows()[0].start);
  EXPECT_TRUE(trace.flows()[1].start);
  EXPECT_EQ(trace.flows()[1].time_ns, 5'000);
  EXPECT_EQ(trace.flows()[2].id, -3);
}

TEST(ChromeArrows, HaveTheTypeOfTheirCategory) {
  const auto type = [](std::string_view category) {
    const Trace trace = read(trace_text({arrow("s", "7", category)}));
    return trace.flows()[0].type;
  };
  EXPECT_EQ(type("fwdbwd"), FlowEnd::Type::forward_backward);
  EXPECT_EQ(type("forward_backward"), FlowEnd::Type::forward_backward);
  EXPECT_EQ(type("ac2g"), FlowEnd::Type::launch);
  EXPECT_EQ(type("async_cpu_to_gpu"), FlowEnd::Type::launch);
  EXPECT_EQ(type("async_gpu"), FlowEnd::Type::launch);
}

TEST(ChromeArrows, OfOtherKindsArePassedOver) {
  const Trace trace = read(trace_text({arrow("s", "7", "mine"), arrow("f", "7", "")}));
  EXPECT_TRUE(trace.flows().empty());
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeArrows, HaveIdsThatAreNumbersOrText) {
  const Trace trace = read(trace_text({arrow("s", "\"0x1f\""), arrow("f", "\"0x1f\""),
                                       arrow("s", "\"0x20\""), arrow("s", "\"31\"")}));
  ASSERT_EQ(trace.flows().size(), 4u);
  EXPECT_EQ(trace.flows()[0].id, trace.flows()[1].id);
  EXPECT_NE(trace.flows()[0].id, trace.flows()[2].id);
  EXPECT_EQ(trace.flows()[3].id, 31);
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeArrows, HaveTheSameIdInAnyFormOfANumber) {
  const Trace trace = read(trace_text({arrow("s", "7"), arrow("f", "7.0"), arrow("f", "\"7\""),
                                       arrow("f", "7e0"), arrow("f", "0.7e1")}));
  ASSERT_EQ(trace.flows().size(), 5u);
  for (const FlowEnd& end : trace.flows()) EXPECT_EQ(end.id, 7);
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeArrows, AreIncompleteWithoutAnIdOrATime) {
  EXPECT_EQ(issue_counts(read(trace_text({arrow("s", "7").without("id")}))), "event_incomplete 1");
  EXPECT_EQ(issue_counts(read(trace_text({arrow("s", "7").without("ts")}))), "event_incomplete 1");
}

ChromeEvent label(std::string_view what, std::string_view pid, std::string_view tid,
                  std::string_view name) {
  ChromeEvent event;
  event.with("ph", "\"M\"").with("name", in_quotes(what)).with("ts", "1");
  event.with("pid", pid).with("tid", tid);
  return event.arg("name", in_quotes(name));
}

TEST(ChromeLabels, NameProcessesAndThreadsWhereverTheyStand) {
  const Trace trace = read(trace_text(
      {label("thread_name", "1", "1", "main"), op("a"), op("b").with("tid", "\"stream 7\""),
       op("c").with("pid", "2"), label("process_name", "1", "0", "python"),
       label("thread_name", "1", "\"stream 7\"", "stream 7 (compute)")}));
  EXPECT_EQ(issue_counts(trace), "");
  ASSERT_EQ(trace.tracks().size(), 3u);
  const auto name = [&](int row) {
    const Track& track = trace.track(trace.events().track(static_cast<EventId>(row)));
    return std::string(trace.string(track.process_name)) + "/" +
           std::string(trace.string(track.thread_name));
  };
  EXPECT_EQ(name(0), "python/main");
  EXPECT_EQ(name(1), "python/stream 7 (compute)");
  EXPECT_EQ(name(2), "/");
}

TEST(ChromeLabels, CountWithTheirLastName) {
  const Trace trace = read(trace_text(
      {op("a"), label("process_name", "1", "0", "old"), label("process_name", "1", "5", "new"),
       label("thread_name", "1", "1", "old"), label("thread_name", "1", "1", "new")}));
  const Track& track = trace.tracks()[0];
  EXPECT_EQ(trace.string(track.process_name), "new");
  EXPECT_EQ(trace.string(track.thread_name), "new");
}

TEST(ChromeLabels, OfOtherKindsOrWithoutANameArePassedOver) {
  ChromeEvent nameless = label("process_name", "1", "0", "x");
  nameless.arguments = {{"labels", "\"CPU\""}};
  ChromeEvent null_thread = label("thread_name", "1", "1", "x");
  null_thread.arguments = {{"name", "null"}};
  ChromeEvent null_process = label("process_name", "1", "0", "x");
  null_process.arguments = {{"name", "null"}};
  const Trace trace = read(trace_text({op("a"), nameless, null_thread, null_process,
                                       label("process_labels", "1", "1", "x"),
                                       label("thread_sort_index", "1", "1", "x")}));
  EXPECT_EQ(issue_counts(trace), "");
  EXPECT_EQ(trace.tracks()[0].process_name, StringId::empty);
  EXPECT_EQ(trace.tracks()[0].thread_name, StringId::empty);
}

/// How many events have inputs if they are read for FLOPs only.
std::size_t inputs_for_flops(const fixtures::Members& before, const fixtures::Members& after,
                             Layout layout) {
  fixtures::ChromeText trace;
  trace.before = before;
  trace.events = {op("a").arg("Input Dims", "[[2, 3]]"), op("b").arg("Input Dims", "[[4]]")};
  trace.after = after;
  const Trace kept = read(trace.text(layout), {.threads = 1, .inputs_for_flops_only = true});
  return kept.argument(Argument::input_dims).size();
}

TEST(ChromeInputs, AreLeftOutWhereKinetoSaysThatNoFlopsWereAskedFor) {
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    EXPECT_EQ(inputs_for_flops({{"schemaVersion", "1"}}, {}, layout), 0U);
    EXPECT_EQ(inputs_for_flops({{"with_flops", "1"}}, {}, layout), 2U);
  }
}

TEST(ChromeInputs, AreKeptWhereItMayBeSaidBehindTheEvents) {
  for (const Layout layout :
       {Layout::minified, Layout::event_a_line, Layout::spaced, Layout::indented}) {
    EXPECT_EQ(inputs_for_flops({{"schemaVersion", "1"}}, {{"with_flops", "1"}}, layout), 2U);
  }
}

}  // namespace
}  // namespace tbtrace::readers
