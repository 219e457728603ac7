// Event files of calls that were killed or failed: runs appear whole, and the next call completes
// them.

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <tbtrace/convert.h>

#include "fixtures/read_text.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"
#include "logdir/run_staging.h"
#include "logdir/summary_log_folder.h"
#include "logdir/summary_logs.h"

namespace tbtrace {
namespace {

namespace fs = std::filesystem;
using State = ConvertedInput::State;
using testing::ElementsAre;
using testing::SizeIs;

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
  using logdir::RunStaging;
  options.log.worker = "w";
  const Trace first = fixtures::read(trace({.base = kBase, .steps = {1}}));
  const Trace second = fixtures::read(trace({.base = kBase + 1, .steps = {2}}));
  {
    const Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(log, {});
    ASSERT_TRUE(staging.ok());
    logdir::SummaryLogs logs(**staging, options);
    const auto failed = logs.output("a.json", first, nullptr);
    const auto written = logs.output("b.json", second, nullptr);
    Result<logdir::LogPlace> place = logdir::LogPlace();
    for (logdir::LogOutput* const output : {failed.get(), written.get()}) {
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

}  // namespace
}  // namespace tbtrace
