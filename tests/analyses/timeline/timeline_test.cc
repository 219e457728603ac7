// Timelines: their tracks, order, flows, parts and limits.
#include "analyses/timeline/timeline.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyses/random_recording.h"
#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

using fixtures::ChromeEvent;
using fixtures::op;
using testing::ElementsAre;

const ReadOptions kAllArguments = {.threads = 1, .arguments = ArgumentSet::all()};

ChromeEvent on(ChromeEvent event, const char* category, const char* process, const char* thread) {
  return event.with("cat", fixtures::in_quotes(category)).with("pid", process).with("tid", thread);
}

ChromeEvent named(const char* what, const char* process, const char* thread, const char* name) {
  ChromeEvent event;
  event.with("ph", "\"M\"").with("name", fixtures::in_quotes(what)).with("pid", process);
  event.with("tid", thread).arg("name", fixtures::in_quotes(name));
  return event;
}

Trace read(const std::vector<ChromeEvent>& events) {
  return fixtures::read(fixtures::trace_text(events), kAllArguments);
}

std::vector<std::string> names_of(const Timeline& timeline) {
  std::vector<std::string> names;
  for (const std::uint32_t name : timeline.name) names.push_back(timeline.names[name].name);
  return names;
}

TEST(Timeline, HasStreamsByNumberAndThenTheMainThread) {
  const Trace trace = read({
      on(op("b", "10"), "cpu_op", "100", "200"),
      on(op("a", "20"), "cpu_op", "100", "100"),
      on(op("k10", "30"), "kernel", "1", "10"),
      on(op("k9", "40"), "kernel", "1", "9"),
      on(op("k0", "50"), "kernel", "0", "7"),
      named("process_name", "100", "0", "python"),
      named("thread_name", "1", "10", "stream 10 "),
  });
  std::vector<std::string> tracks;
  for (const TimelineTrack& track : timeline(trace).tracks) {
    tracks.push_back(track.process + ": " + track.name);
  }
  EXPECT_THAT(tracks, ElementsAre("GPU 0: stream 7", "GPU 1: stream 9", "GPU 1: stream 10",
                                  "python (100): thread 100", "python (100): thread 200"));
}

TEST(Timeline, PutsTheLongerOfTwoThatStartTogetherFirst) {
  const Timeline made = timeline(read({op("short", "10", "1"), op("long", "10", "5")}));
  EXPECT_THAT(names_of(made), ElementsAre("long", "short"));
  EXPECT_EQ(made.row[0], 0U);
  EXPECT_EQ(made.row[1], 1U);
}

TEST(Timeline, KeepsTheLongestAndCountsTheOthers) {
  const Trace trace = read({op("a", "10", "1"), op("b", "20", "5"), op("c", "30", "3")});
  const Timeline made = timeline(trace, {.ranges = 1});
  EXPECT_THAT(names_of(made), ElementsAre("b"));
  EXPECT_EQ(made.left_out, 2U);
  EXPECT_EQ(made.left_out_ns, 3000);
  EXPECT_EQ(made.tracks[0].ranges, 1U);
}

TEST(Timeline, HasArrowsFromLaunchesAndForwardOperators) {
  ChromeEvent launch = on(op("cudaLaunchKernel", "11", "1"), "cuda_runtime", "1", "1");
  launch.arg("correlation", "7");
  ChromeEvent kernel = on(op("gemm", "20", "4"), "kernel", "0", "7");
  kernel.arg("correlation", "7").arg("device", "0").arg("stream", "7").arg("grid", "[2, 1, 1]");
  ChromeEvent start = op("fwdbwd", "10");
  start.with("ph", "\"s\"").with("cat", "\"fwdbwd\"").with("id", "1").without("dur");
  ChromeEvent end = op("fwdbwd", "31");
  end.with("ph", "\"f\"").with("cat", "\"fwdbwd\"").with("id", "1").with("tid", "2").without("dur");
  const Trace trace = read({op("aten::mm", "10", "5"), op("inner", "10", "1"), launch, kernel,
                            on(op("outer", "30", "9"), "user_annotation", "1", "2"),
                            on(op("MmBackward0", "31", "3"), "cpu_op", "1", "2"), start, end});
  const Timeline made = timeline(trace, {.arguments = true});
  const std::vector<std::string> names = names_of(made);
  std::vector<std::string> arrows;
  for (const TimelineFlows& of : made.flows) {
    for (const TimelineFlow& flow : of.flows) {
      arrows.push_back(std::string(of.kind) + ": " + names[flow.from] + " to " + names[flow.to]);
    }
  }
  EXPECT_THAT(arrows, ElementsAre("launch: cudaLaunchKernel to gemm",
                                  "forward_backward: aten::mm to MmBackward0"));
  const auto grid = std::ranges::find(made.arguments, "grid", &TimelineArgument::key);
  ASSERT_NE(grid, made.arguments.end());
  EXPECT_THAT(grid->texts, ElementsAre("[2, 1, 1]"));
}

TEST(Timeline, FindsARangeByItsPlace) {
  const Trace trace = read({op("a", "10", "5"), op("a", "10", "5"), op("b", "10", "5")});
  const EventId first = range_at(trace, {0, 0, 5000, "a", 0});
  const EventId second = range_at(trace, {0, 0, 5000, "a", 1});
  ASSERT_NE(first, EventId::none);
  ASSERT_NE(second, EventId::none);
  EXPECT_NE(first, second);
  EXPECT_EQ(range_at(trace, {0, 0, 5000, "a", 2}), EventId::none);
  EXPECT_EQ(range_at(trace, {0, 0, 5000, "\u2026", 2}), range_at(trace, {0, 0, 5000, "b", 0}));
  EXPECT_EQ(range_at(trace, {1, 0, 5000, "a", 0}), EventId::none);
}

/// All ranges that touch the part, with their lines in the whole.
TEST(Timeline, HasPartsWithTheRangesThatTouchThem) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Trace trace = RandomRecording(seed, {}).make();
    const Timeline whole = timeline(trace);
    const std::int64_t length = whole.to_ns - whole.from_ns;
    const TimelinePart part = {whole.from_ns + length / 3, whole.from_ns + length / 2 + 1};
    const Timeline made = timeline(trace, {.part = part});
    std::size_t at = 0;
    for (std::size_t range = 0; range < whole.size(); ++range) {
      const std::int64_t start = whole.start_ns[range];
      const std::int64_t end = start + whole.duration_ns[range];
      const bool is_before = end < part.from_ns || (end == part.from_ns && end != start);
      if (is_before || start >= part.to_ns) continue;
      ASSERT_LT(at, made.size()) << seed;
      EXPECT_EQ(made.start_ns[at], start);
      EXPECT_EQ(made.duration_ns[at], end - start);
      EXPECT_EQ(made.row[at], whole.row[range]);
      EXPECT_EQ(made.names[made.name[at]].name, whole.names[whole.name[range]].name);
      ++at;
    }
    EXPECT_EQ(at, made.size()) << seed;
  }
}

}  // namespace
}  // namespace tbtrace::analyses
