// prof.events() from files.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/operators.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::in_quotes;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;

ChromeEvent of_device(std::string_view category, std::string_view name, std::string_view start,
                      std::string_view duration) {
  ChromeEvent event = op(name, start, duration).with("cat", in_quotes(category));
  return event.with("pid", "2").with("tid", "7").arg("External id", "3");
}

TEST(EventList, HasWhatTheFileSaysOfAnEvent) {
  const Trace trace = read(trace_text({op("first", "1000", "1"),
                                       op("aten::mm.out", "1000.5", "0.25")
                                           .with("tid", "140368640")
                                           .arg("External id", "3")
                                           .arg("Sequence number", "12")
                                           .arg("Input Dims", "[[2, 3], []]")
                                           .arg("Input type", "[\"float\", \"Scalar\"]"),
                                       of_device("kernel", "gemm", "1002", "4")}));
  const EventList list = events(trace);
  ASSERT_EQ(list.size(), 3u);
  const FunctionEvent& mm = list[1];
  EXPECT_EQ(mm.key, "aten::mm");
  EXPECT_EQ(mm.overload_name, "out");
  EXPECT_EQ(mm.count, 1);
  EXPECT_EQ(mm.tid, "140368640");
  EXPECT_TRUE(mm.tid_is_number);
  EXPECT_EQ(mm.start_ns, 500) << "from the first event on";
  EXPECT_EQ(mm.end_ns, 750);
  EXPECT_EQ(mm.cpu_time_total.ns, 250);
  EXPECT_EQ(mm.sequence_nr, 12);
  EXPECT_EQ(mm.input_shapes, "[[2, 3], []]");
  EXPECT_FALSE(mm.is_python_function);
  ASSERT_EQ(mm.kernels.size(), 1u);
  EXPECT_EQ(mm.kernels[0].name, "gemm");
  EXPECT_EQ(mm.kernels[0].device_index, 2);
  EXPECT_EQ(mm.kernels[0].duration_us, 4.0);
  EXPECT_EQ(list[0].sequence_nr, -1);
  EXPECT_TRUE(list[0].kernels.empty());
  EXPECT_EQ(list[2].device_type, DeviceType::cuda);
}

TEST(EventList, TellsPythonFunctionsAndThreadsWithNames) {
  const Trace trace = read(
      trace_text({op("main").with("cat", "\"python_function\"").arg("Python id", "1"),
                  op("gc").with("cat", "\"python_function\""), op("a").with("tid", "\"worker\"")}));
  const EventList list = events(trace);
  EXPECT_TRUE(list[0].is_python_function);
  EXPECT_FALSE(list[1].is_python_function);
  EXPECT_EQ(list[2].tid, "worker");
  EXPECT_FALSE(list[2].tid_is_number);
}

TEST(EventList, PutsTheNewestRecordingFirst) {
  const Trace older = read(trace_text({op("old", "0", "9"), op("inner", "1", "2")}));
  const Trace newer = read(trace_text({op("new", "0", "9"), op("inner", "1", "2")}));
  const Trace* traces[] = {&older, &newer};
  const EventList list = *events(traces);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0].key, "new");
  EXPECT_EQ(list[1].parent, 0u);
  EXPECT_EQ(list[2].key, "old");
  EXPECT_EQ(list[3].parent, 2u) << "rows of the joined list";
}

TEST(EventList, OfAMemoryRecordHasNoThread) {
  ChromeEvent memory;
  memory.with("ph", "\"i\"").with("cat", "\"cpu_instant_event\"").with("name", "\"[memory]\"");
  memory.with("pid", "1").with("tid", "2").with("ts", "50").arg("Bytes", "64");
  memory.arg("Device Type", "0");
  const Trace trace = read(trace_text({op("a", "10", "5"), memory}));
  const EventList list = events(trace);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1].key, "[memory]");
  EXPECT_EQ(list[1].tid, "");
  EXPECT_EQ(list[1].cpu_memory_usage_bytes, 64);
  EXPECT_EQ(list[1].own_flops, std::nullopt);
  EXPECT_EQ(list[0].own_flops, 0u);
}

TEST(EventList, KnowsTheIssuesOfItsFileAsTheSummaryDoes) {
  const Trace trace = read(trace_text({op("a", "10", "-2")}));
  EXPECT_EQ(events(trace).source().issues.at("negative_duration"), 1u);
  EXPECT_EQ(operator_summary(trace).source().issues.at("negative_duration"), 1u);
}

Trace of_rank(int rank) {
  return read(R"({"distributedInfo":{"rank":)" + std::to_string(rank) + R"(},"traceEvents":[)" +
              R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]})");
}

TEST(JoinedRecordings, AreOfOneProcess) {
  const Trace one = of_rank(0);
  const Trace two = of_rank(1);
  const Trace* ranks[] = {&one, &one, &two};
  for (const Status& status :
       {check_same_process(ranks), events(ranks).status(), operator_summary(ranks).status(),
        operator_summary(ranks, Figures::plugin).status()}) {
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_EQ(status.message(),
              "recordings 1 and 3 are of different ranks, so they cannot be summarised together; "
              "exact figures can be added up");
  }
  EXPECT_EQ(events(ranks, SameProcess::known)->size(), 3u);
  EXPECT_TRUE(operator_summary(ranks, {}, SameProcess::known).ok());
  EXPECT_FALSE(exact_operator_summary(ranks).rows().empty());
  EXPECT_TRUE(check_same_process({ranks, 2}).ok());
}

TEST(JoinedRecordings, SayWhatDiffers) {
  const TraceIdentity none;
  TraceIdentity rank, host, other_host, process, other_process;
  rank.rank = 1;
  host.host = "a";
  other_host.host = "b";
  process.process = "1";
  other_process.process = "2";
  EXPECT_EQ(what_differs(rank, none), "ranks");
  EXPECT_EQ(what_differs(host, other_host), "hosts");
  EXPECT_EQ(what_differs(process, other_process), "processes");
  EXPECT_EQ(what_differs(host, host), "");
}

TraceIdentity of_time(std::int64_t start_ns, std::int64_t end_ns) {
  return {.rank = {},
          .world_size = {},
          .host = {},
          .process = "1",
          .start_ns = start_ns,
          .end_ns = end_ns};
}

TEST(JoinedRecordings, OfTheSameTimeAreOfDifferentProcesses) {
  const TraceIdentity first = of_time(0, 100);
  EXPECT_EQ(what_differs(first, of_time(10, 60)),
            "processes (they were recorded at the same time)");
  EXPECT_EQ(what_differs(first, of_time(100, 200)), "");
  EXPECT_EQ(what_differs(first, of_time(95, 200)), "") << "a kernel that ended late";
  TraceIdentity unknown = of_time(0, 0);
  unknown.start_ns.reset();
  EXPECT_EQ(what_differs(first, unknown), "");
  EXPECT_EQ(count_processes(std::vector<TraceIdentity>{of_time(100, 200), first, of_time(5, 95),
                                                       of_time(110, 190)}),
            2u);
}

}  // namespace
}  // namespace tbtrace
