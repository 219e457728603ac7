// Traces into event files: where they stand, that their steps grow, and that nothing is lost on the
// way.
#include "converters/summary_logs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <tbtrace/convert.h>

#include "converters/run_staging.h"
#include "fixtures/chrome_text.h"
#include "fixtures/event_reading.h"
#include "fixtures/read_text.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"
#include "log_folder.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using fixtures::ChromeText;
using fixtures::op;
using State = ConvertedInput::State;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr std::int64_t kBase = 1'790'857'026;
const std::string kTime = "profile/step_time_ms";
const std::string kTable = "profile/operators/text_summary";

struct Window {
  std::int64_t base = kBase;  // in seconds
  std::vector<int> steps = {7};
  std::string annotation = "ProfilerStep#";
  std::string member = {};
  std::string host = {};
  int devices = 0;  // that run a kernel in the first step
};

std::string trace(const Window& window) {
  ChromeText text;
  text.before = {{"baseTimeNanoseconds", std::to_string(window.base) + "000000000"}};
  if (!window.member.empty()) text.before.emplace_back("distributedInfo", window.member);
  if (!window.host.empty()) {
    text.before.emplace_back("host_name", fixtures::in_quotes(window.host));
  }
  int at = 0;
  for (const int step : window.steps) {
    const auto event = [&](std::string_view category, const std::string& name, int from,
                           int length) {
      text.events.push_back(op(name, std::to_string(from), std::to_string(length))
                                .with("cat", fixtures::in_quotes(category)));
    };
    event("user_annotation", window.annotation + std::to_string(step), at, 900);
    event("cpu_op", "aten::mm", at + 100, 50);
    at += 1000;
  }
  for (int device = 0; device < window.devices; ++device) {
    text.events.push_back(
        op("k", "200", "5").with("cat", "\"kernel\"").with("pid", std::to_string(device)));
  }
  return text.text();
}

class SummaryLogs : public LogFolder {
 protected:
  SummaryLogs() { options.log.format = LogFormat::event_files; }

  std::string input(std::string_view name, const Window& window) {
    return LogFolder::input(name, trace(window));
  }

  Conversion convert(const std::vector<std::string>& inputs) {
    Result<Conversion> conversion = convert_to_log_directory(inputs, log, options);
    EXPECT_TRUE(conversion.ok()) << conversion.status().message();
    return conversion.ok() ? *std::move(conversion) : Conversion{};
  }

  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> contents;
    for (const std::string& file : files()) {
      contents[file] = fixtures::read_whole_file(log + "/" + file);
    }
    return contents;
  }

  /// Steps of a tag's values in a run, in the order in which loaders meet them.
  std::vector<std::int64_t> steps(const std::string& run, const std::string& tag = kTime) const {
    std::vector<std::int64_t> found;
    for (const proto::Event& event : fixtures::events_in(log + "/" + run)) {
      if (event.summary().value_size() > 0 && event.summary().value(0).tag() == tag) {
        found.push_back(event.step());
      }
    }
    return found;
  }

  ConvertOptions options;
};

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

TEST_F(SummaryLogs, AreNotOverwrittenUnasked) {
  const std::string path = input("w.json", {});
  convert({path});
  const auto before = contents();
  Conversion again = convert({path});
  EXPECT_EQ(again.inputs[0].state, State::failed);
  EXPECT_THAT(again.inputs[0].status.message(), HasSubstr("exists already"));
  EXPECT_EQ(contents(), before);
  options.log.overwrite = true;
  again = convert({path});
  EXPECT_EQ(again.inputs[0].state, State::written);
  EXPECT_EQ(contents(), before) << "the same bytes";
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

TEST_F(SummaryLogs, OverwrittenOnesStayInTheirPlaceIfTheyFit) {
  options.log.worker = "w";
  options.log.run = "job";
  std::vector<std::string> inputs;
  for (const int first : {7, 7, 17}) {
    inputs.push_back(
        input("w" + std::to_string(inputs.size()) + ".json",
              {.base = kBase + 10 * static_cast<int>(inputs.size()), .steps = {first, first + 1}}));
  }
  convert(inputs);
  const auto before = contents();
  EXPECT_THAT(steps("job/w"), ElementsAre(7, 8, 9, 10, 17, 18));
  options.log.overwrite = true;
  convert(inputs);
  EXPECT_EQ(contents(), before);
  convert({inputs[1]});
  EXPECT_EQ(contents(), before);
  // In another order, which is another order of the loaders.
  convert({inputs[2], inputs[0], inputs[1]});
  EXPECT_THAT(contents(), SizeIs(3));
  const auto after = steps("job/w");
  EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
  EXPECT_EQ(std::set<std::int64_t>(after.begin(), after.end()).size(), 6);
  convert({input("w0.json", {.steps = {100, 101, 102}})});
  EXPECT_THAT(contents(), SizeIs(3));
  const auto grown = steps("job/w");
  EXPECT_TRUE(std::is_sorted(grown.begin(), grown.end()));
  EXPECT_EQ(grown.back(), 102);
  EXPECT_THAT(grown, SizeIs(7));
}

TEST_F(SummaryLogs, OverwrittenOnesLeaveARunItsLayoutAndHyperparametersOnce) {
  options.log.worker = "w";
  options.log.run = "job";
  options.log.overwrite = true;
  const auto window = [&](int number, int step) {
    return input("w" + std::to_string(number) + ".json",
                 {.base = kBase + 10 * number, .steps = {step}, .member = R"({"rank": 1})"});
  };
  convert({window(0, 1), window(1, 2)});
  // Each fits no longer where it stood, so it goes behind the other: first that with the layout,
  // then the one without, then both in one call.
  const std::vector<std::vector<std::string>> calls = {
      {window(0, 3)}, {window(0, 4)}, {window(1, 5)}, {window(0, 6), window(1, 7)}};
  for (const std::vector<std::string>& inputs : calls) {
    convert(inputs);
    EXPECT_THAT(contents(), SizeIs(2));
    EXPECT_THAT(steps("job/w", "custom_scalars__config__"), ElementsAre(0));
    EXPECT_THAT(steps("job/w", "_hparams_/session_start_info"), ElementsAre(0));
  }
}

TEST_F(SummaryLogs, OverwrittenOnesHaveTheDetailsOfTheLastWindowOnce) {
  options.log.worker = "w";
  options.log.run = "job";
  std::vector<std::string> inputs;
  for (int window = 0; window < 7; ++window) {
    inputs.push_back(input("w" + std::to_string(window) + ".json",
                           {.base = kBase + 10 * window, .steps = {10 * window}}));
  }
  convert(inputs);
  const auto before = contents();
  EXPECT_THAT(before, SizeIs(8)) << "and the last one's details";
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 60));
  options.log.overwrite = true;
  convert(inputs);
  EXPECT_EQ(contents(), before);
  // Its steps do not fit between its neighbours' any more.
  convert({input("w6.json", {.base = kBase + 60, .steps = {5}}),
           input("w5.json", {.base = kBase + 50, .steps = {50, 60, 70, 80}})});
  EXPECT_THAT(contents(), SizeIs(8));
  EXPECT_THAT(steps("job/w"), ElementsAre(0, 10, 20, 30, 40, 51, 52, 62, 72, 82));
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 82));
  const Result<Trace> trace = read_trace(inputs[5]);
  ASSERT_TRUE(trace.ok());
  ASSERT_TRUE(write_log_directory(*trace, log, options.log).ok());
  EXPECT_THAT(contents(), SizeIs(7)) << "the details are in its own file";
  EXPECT_THAT(steps("job/w", kTable), ElementsAre(0, 10, 20, 30, 40, 82));
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

TEST_F(SummaryLogs, WhatAKilledCallLeftAppearsWhateverBecomesOfTheRest) {
  const std::string good = input("job/good.json", {});
  const std::string bad = folder.path("job/bad.json");
  fixtures::write_whole_file(bad, "no trace");
  for (const LogFormat format : {LogFormat::event_files, LogFormat::plugin}) {
    log = folder.path("log" + std::to_string(static_cast<int>(format)));
    options.log.format = format;
    options.skip_existing = false;
    convert({good});
    const std::vector<std::string> whole = files();
    // As if the call had been killed before the run appeared.
    const fs::path shown = fs::path(log) / whole.at(0);
    std::string name = shown.filename().string();
    const std::size_t mark = name.find("tfevents");
    if (mark != std::string::npos) name.insert(mark + 2, "~").append(".partial");
    const fs::path waiting =
        folder.path("." + fs::path(log).filename().string() + ".tbtrace-partial") /
        shown.parent_path().lexically_relative(log) / ".run" / name;
    fs::create_directories(waiting.parent_path());
    fs::rename(shown, waiting);
    options.skip_existing = true;
    convert({bad});
    EXPECT_EQ(files(), whole);
  }
}

// Seven windows: the last one's tables are in a file of their own.
TEST_F(SummaryLogs, TheLastWindowsDetailsAreMadeUpForAfterAKill) {
  for (int window = 0; window < 7; ++window) {
    input("job/trace_" + std::to_string(window) + ".json",
          {.base = kBase + window, .steps = {window}, .host = "node", .devices = 1});
  }
  options.log.worker = "w";
  convert({folder.path("job")});
  const std::map<std::string, std::string> whole = contents();
  const std::string details = files().back();
  ASSERT_TRUE(details.ends_with(".1")) << details;
  fs::remove(log + "/" + details);
  options.skip_existing = true;
  const Conversion conversion = convert({folder.path("job")});
  for (const ConvertedInput& each : conversion.inputs) EXPECT_EQ(each.state, State::skipped);
  EXPECT_EQ(contents(), whole);
}

TEST_F(SummaryLogs, ARunHasItsLayoutIfTheWindowThatBearsItFails) {
  using converters::RunStaging;
  options.log.worker = "w";
  const Trace first = fixtures::read(trace({.base = kBase, .steps = {1}}));
  const Trace second = fixtures::read(trace({.base = kBase + 1, .steps = {2}}));
  {
    const Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(log, {});
    ASSERT_TRUE(staging.ok());
    converters::SummaryLogs logs(**staging, options);
    const auto failed = logs.output("a.json", first, nullptr);
    const auto written = logs.output("b.json", second, nullptr);
    Result<converters::LogPlace> place = converters::LogPlace();
    for (converters::LogOutput* const output : {failed.get(), written.get()}) {
      LogFile file;
      file.run = "job";
      output->name(file);
      place = output->take_place();
      ASSERT_TRUE(place.ok());
    }
    const Result<std::string> path = (*staging)->place(place->folder, place->name);
    ASSERT_TRUE(path.ok());
    ASSERT_TRUE(written->write(**io::create_file(*path, {})).ok());
    EXPECT_TRUE(logs.finish("job/w").ok());
    EXPECT_TRUE((*staging)->finish("job/w").status.ok());
  }
  EXPECT_THAT(steps("job/w"), ElementsAre(2));
  EXPECT_THAT(steps("job/w", "custom_scalars__config__"), SizeIs(1));
}

// TensorBoard's plugin loads a run once, so the run's folder is moved in one step.
TEST_F(SummaryLogs, ARunWithBothKindsOfFilesAppearsInOneStep) {
  options.log.format = LogFormat::both;
  for (const int threads : {1, 3}) {
    log = folder.path("log" + std::to_string(threads));
    options.threads = threads;
    std::vector<std::string> inputs;
    for (int rank = 0; rank < 4; ++rank) {
      inputs.push_back(input("job/rank" + std::to_string(rank) + ".json", {.base = kBase}));
    }
    const std::string name = "." + fs::path(log).filename().string() + ".tbtrace-partial";
    ino_t waiting = 0;
    options.on_progress = [&](std::size_t done, std::size_t all) {
      struct stat info = {};
      if (done == all && ::stat(folder.path(name + "/job/.run").c_str(), &info) == 0) {
        waiting = info.st_ino;
      }
      return true;
    };
    convert(inputs);
    struct stat info = {};
    ASSERT_EQ(::stat((log + "/job").c_str(), &info), 0);
    EXPECT_EQ(info.st_ino, waiting);
    EXPECT_THAT(files(), SizeIs(8));
  }
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
