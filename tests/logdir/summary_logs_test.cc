// Traces into event files: where they stand, that their steps grow, and that nothing is lost on the
// way.
#include "logdir/summary_logs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/convert.h>

#include "fixtures/event_reading.h"
#include "fixtures/whole_file.h"
#include "logdir/summary_log_folder.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using State = ConvertedInput::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST_F(SummaryLogs, AreARunForEachRank) {
  input("job/rank0.json", {.steps = {7, 8}});
  input("job/rank1.json", {.base = kBase + 1});
  const Conversion conversion = convert({folder.path("job")});
  ASSERT_THAT(conversion.inputs, SizeIs(2));
  EXPECT_THAT(files(),
              ElementsAre("job/rank0/events.out.tfevents.1790857026.rank0.1790857026000000000.0",
                          "job/rank1/events.out.tfevents.1790857027.rank1.1790857027000000000.0"));
  const LogFile& file = conversion.inputs[0].files.at(0);
  EXPECT_EQ(file.run, "job");
  EXPECT_EQ(file.worker, "rank0");
  EXPECT_EQ(file.span, kBase * 1'000'000'000);
  EXPECT_EQ(file.path, log + "/" + files()[0]);
  EXPECT_EQ(file.bytes, fs::file_size(file.path));
  EXPECT_THAT(file.changes, IsEmpty());
  EXPECT_THAT(steps("job/rank0"), ElementsAre(7, 8));
  EXPECT_THAT(steps("job/rank0", kTable), ElementsAre(8));
  const auto events = fixtures::events_in(log + "/job/rank1");
  EXPECT_EQ(events.at(0).file_version(), "brain.Event:2");
  EXPECT_EQ(events.at(0).wall_time(), static_cast<double>(kBase + 1));
}

TEST_F(SummaryLogs, WindowsOfAWorkerAreOneRun) {
  // The order of the inputs, which is not that of time.
  const std::string first = input("a.pt.trace.json", {.base = kBase + 5, .steps = {7, 8}});
  const std::string second = input("b.pt.trace.json", {.base = kBase, .steps = {17, 18}});
  options.log.worker = "w";
  options.log.run = "job";
  convert({first, second});
  EXPECT_THAT(files(), ElementsAre("job/w/events.out.tfevents.1790857031.w.1790857031000000000.0",
                                   "job/w/events.out.tfevents.1790857032.w.1790857026000000000.0"));
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8, 17, 18));
  EXPECT_THAT(steps("job/w", "custom_scalars__config__"), SizeIs(1));
}

TEST_F(SummaryLogs, StepsGrowWithinARun) {
  std::vector<std::string> inputs;
  int seconds = 0;
  for (const int first : {7, 7, 3, 100, 0}) {
    inputs.push_back(input("w." + std::to_string(1000 + seconds) + ".pt.trace.json",
                           {.base = kBase + seconds, .steps = {first, first + 1}}));
    ++seconds;
  }
  for (const int threads : {1, 4}) {
    options.threads = threads;
    options.log.run = "threads" + std::to_string(threads);
    const Conversion conversion = convert(inputs);
    EXPECT_THAT(steps(options.log.run + "/w"),
                ElementsAre(7, 8, 9, 10, 11, 12, 100, 101, 102, 103));
    EXPECT_THAT(conversion.inputs[1].files.at(0).changes, ElementsAre(Pair("steps_moved", 2)));
    EXPECT_THAT(conversion.inputs[3].files.at(0).changes, IsEmpty());
  }
}

TEST_F(SummaryLogs, DevicesThatAreNotShownAreCounted) {
  const std::string shown = input("a.1.pt.trace.json", {.devices = 64});
  const std::string more = input("b.1.pt.trace.json", {.devices = 66});
  const Conversion conversion = convert({shown, more});
  EXPECT_THAT(conversion.inputs[0].files.at(0).changes, IsEmpty());
  EXPECT_THAT(conversion.inputs[1].files.at(0).changes, ElementsAre(Pair("devices_left_out", 2)));
}

TEST_F(SummaryLogs, TheSameSpanTwiceIsTwoWorkers) {
  const std::string first = input("a/w.1.pt.trace.json", {});
  const std::string second = input("b/w.1.pt.trace.json", {});
  options.log.run = "job";
  convert({first, second});
  EXPECT_THAT(steps("job/w"), ElementsAre(7));
  EXPECT_THAT(steps("job/w-2"), ElementsAre(7));
}

TEST_F(SummaryLogs, StandBehindWhatIsThere) {
  options.log.run = "job";
  options.log.worker = "w";
  convert({input("today.json", {.base = kBase + 9, .steps = {7, 8}})});
  const auto before = contents();
  const Conversion conversion = convert({input("yesterday.json", {.steps = {7}})});
  EXPECT_EQ(conversion.inputs[0].state, State::written);
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8, 9));
  EXPECT_EQ(contents().at(before.begin()->first), before.begin()->second);
}

TEST_F(SummaryLogs, SkippedOnesAreFoundByTheirSpans) {
  std::vector<std::string> inputs;
  for (const int seconds : {5, 0, 7}) {
    inputs.push_back(
        input("w." + std::to_string(inputs.size()) + ".pt.trace.json", {.base = kBase + seconds}));
  }
  convert(inputs);
  const auto all = contents();
  ASSERT_THAT(all, SizeIs(3));
  options.skip_existing = true;
  Conversion again = convert(inputs);
  for (const ConvertedInput& each : again.inputs) EXPECT_EQ(each.state, State::skipped);
  EXPECT_EQ(contents(), all);

  const std::string second = again.inputs[1].files.at(0).path;
  fs::remove(second);
  again = convert(inputs);
  EXPECT_EQ(again.inputs[0].state, State::skipped);
  EXPECT_EQ(again.inputs[1].state, State::written);
  EXPECT_EQ(again.inputs[2].state, State::skipped);
  EXPECT_THAT(again.inputs[1].files.at(0).path, HasSubstr(".w.1790857026000000000.0"));
  EXPECT_THAT(steps(fs::path(second).parent_path().lexically_relative(log).string()),
              ElementsAre(7, 9, 10))
      << "behind those that were there";
}

TEST_F(SummaryLogs, OfManyWindowsFewHaveTablesAndTheLastOne) {
  for (int window = 0; window < 137; ++window) {
    // Neither the order of bytes nor a worker is in the name.
    input("ranks/trace_" + std::to_string(window) + ".json",
          {.base = kBase + window,
           .steps = {window},
           .member = R"({"rank": 3, "world_size": 4})",
           .host = "node"});
  }
  convert({folder.path("ranks")});
  std::vector<std::int64_t> all(137);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(steps("ranks/node_3"), all);
  EXPECT_THAT(steps("ranks/node_3", kTable), ElementsAre(0, 1, 2, 3, 4, 9, 29, 99, 136));
  EXPECT_THAT(steps("ranks/node_3", "custom_scalars__config__"), SizeIs(1));
  // What comes later goes on counting.
  options.log.run = "ranks";
  convert(
      {input("later.json",
             {.base = kBase + 500, .steps = {500}, .member = R"({"rank": 3})", .host = "node"})});
  EXPECT_THAT(steps("ranks/node_3", kTable), ElementsAre(0, 1, 2, 3, 4, 9, 29, 99, 136, 500));
  EXPECT_THAT(steps("ranks/node_3", "custom_scalars__config__"), SizeIs(1));
}

TEST_F(SummaryLogs, AnInputThatFailsTakesNoPlace) {
  options.log.worker = "w";
  const std::string first = input("1.json", {.steps = {7, 8}});
  convert({first});
  const Conversion conversion =
      convert({first, input("2.json", {.base = kBase + 5, .steps = {9, 10}})});
  EXPECT_EQ(conversion.inputs[0].state, State::failed);
  EXPECT_EQ(conversion.inputs[1].state, State::written);
  EXPECT_THAT(conversion.inputs[1].files.at(0).changes, IsEmpty());
}

TEST_F(SummaryLogs, StepsOfHostileFilesEndNowhere) {
  options.log.worker = "w";
  options.log.run = "job";
  for (int window = 0; window < 3; ++window) {
    convert({input(std::to_string(window) + ".json",
                   {.base = kBase + window, .annotation = "ProfilerStep#922337203685477580"})});
  }
  convert({input("3.json", {.base = kBase + 3, .annotation = "ProfilerStep#450359962737049"})});
  convert({input("4.json", {.base = kBase + 4, .steps = {8, 9}})});
  const auto all = steps("job/w");
  EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), 6);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
}

TEST_F(SummaryLogs, TakeAnnotationsForStepsIfTheyShall) {
  const std::string path = input("w.json", {.steps = {20, 21}, .annotation = "Iteration "});
  options.log.run = "as_it_is";
  convert({path});
  EXPECT_THAT(steps("as_it_is/w"), ElementsAre(0));
  options.log.run = "inferred";
  options.log.infer_steps = true;
  convert({path});
  EXPECT_THAT(steps("inferred/w"), ElementsAre(20, 21));
}

TEST_F(SummaryLogs, GoOnBehindABadInput) {
  fs::create_directories(folder.path("job"));
  fixtures::write_whole_file(folder.path("job/bad.json"), "no trace");
  const std::string good = input("job/rank0.json", {});
  const Conversion conversion = convert({folder.path("job/bad.json"), good});
  EXPECT_EQ(conversion.inputs[0].state, State::failed);
  EXPECT_EQ(conversion.inputs[1].state, State::written);
  EXPECT_THAT(steps("job/rank0"), ElementsAre(7));
}

TEST_F(SummaryLogs, AnInMemoryTraceGoesThere) {
  const Result<Trace> read = read_trace(input("w.json", {.steps = {7, 8}}));
  ASSERT_TRUE(read.ok());
  options.log.run = "job";
  options.log.worker = "w";
  const Result<std::vector<LogFile>> files = write_log_directory(*read, log, options.log);
  ASSERT_TRUE(files.ok()) << files.status().message();
  ASSERT_THAT(*files, SizeIs(1));
  const LogFile& file = files->front();
  EXPECT_EQ(file.path, log + "/job/w/events.out.tfevents.1790857026.w.1790857026000000000.0");
  EXPECT_EQ(file.bytes, fs::file_size(file.path));
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8));
  EXPECT_FALSE(write_log_directory(*read, log, options.log).ok());
  options.log.overwrite = true;
  EXPECT_TRUE(write_log_directory(*read, log, options.log).ok());
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8));
}

}  // namespace
}  // namespace tbtrace
