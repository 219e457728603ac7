// What a killed call leaves in the staging folder, and what the next call makes of it.
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/whole_file.h"
#include "logdir/run_staging.h"
#include "logdir/staging_fixture.h"

namespace tbtrace::logdir {
namespace {

namespace fs = std::filesystem;
using fixtures::read_whole_file;
using fixtures::write_whole_file;
using testing::ElementsAre;
using testing::IsEmpty;

class KilledStagingIn : public RunStagingIn {};

INSTANTIATE_TEST_SUITE_P(Places, KilledStagingIn, testing::Bool(),
                         [](const auto& place) { return place.param ? "Inside" : "Beside"; });

TEST_P(KilledStagingIn, CountsWhatAKilledCallLeft) {
  leave("run", kFile, "of yesterday");
  leave("run", kOther, "four");
  write_whole_file(waiting("run", "w.3.pt.trace.json") + ".tmp-12-0", "half a file");
  const std::unique_ptr<RunStaging> staging = opened(logs());
  Leftovers leftovers = staging->leftovers();
  EXPECT_EQ(leftovers.directory, fs::canonical(staging_folder()));
  EXPECT_EQ(leftovers.files, 2u);
  EXPECT_EQ(leftovers.bytes, 16u);
  write(*staging, "run", kFile);
  EXPECT_TRUE(staging->finish("run").status.ok());
  leftovers = staging->leftovers();
  EXPECT_EQ(leftovers.files, 0u);
  EXPECT_EQ(leftovers.directory, "");
}

TEST_P(KilledStagingIn, WhatWasNotFinishedStaysForACallThatResumes) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "a/run", kFile, "finished");
    placed(*staging, "other", kFile);
  }
  EXPECT_THAT(
      tree(staging_folder()),
      ElementsAre(fs::path(waiting("a/run", kFile)).lexically_relative(staging_folder()).string()));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->exists("a/run", kFile));
    EXPECT_FALSE(staging->exists("a/run", kOther));
    EXPECT_FALSE(staging->exists("other", kFile));
    write(*staging, "a/run", kOther, "now");
    EXPECT_TRUE(staging->finish("a/run").status.ok());
    EXPECT_TRUE(staging->exists("a/run", kFile));
  }
  EXPECT_EQ(read_whole_file(log("a/run/") + kFile), "finished");
  EXPECT_THAT(all(), ElementsAre("a/run/w.1.pt.trace.json", "a/run/w.2.pt.trace.json"));
}

TEST_P(KilledStagingIn, AllMayHaveBeenWrittenWhenItWasKilled) {
  leave("run", kFile, "finished");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "finished");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(KilledStagingIn, LeftoversAreReplacedWithoutResume) {
  leave("run", kFile, "of yesterday");
  leave("run", kOther, "of yesterday");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_FALSE(staging->exists("run", kFile));
    write(*staging, "run", kFile, "of today");
    EXPECT_TRUE(staging->exists("run", kFile));
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "of today");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(KilledStagingIn, LeftoversOfOtherRunsStay) {
  leave("other", kFile, "of yesterday");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").status.ok());
    EXPECT_TRUE(staging->finish("other").status.ok());
    EXPECT_FALSE(fs::exists(log("other")));
  }
  EXPECT_EQ(read_whole_file(waiting("other", kFile)), "of yesterday");
}

TEST_P(KilledStagingIn, ALeftoverOfAFileThatIsThereGoes) {
  leave("run", kFile, "of yesterday");
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "there");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->exists("run", kFile));
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "there");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(KilledStagingIn, HalfFilesOfAKilledCallGo) {
  for (const bool resume : {false, true}) {
    const std::string half = waiting("a/run", kFile) + ".tmp-123-1";
    fs::create_directories(fs::path(half).parent_path());
    write_whole_file(half, "half of it");
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = resume});
    EXPECT_FALSE(fs::exists(half));
    EXPECT_FALSE(staging->exists("a/run", kFile));
    EXPECT_TRUE(staging->finish("a/run").status.ok());
  }
  EXPECT_THAT(all(), IsEmpty());
}

constexpr const char* kEvents = "events.out.tfevents.1.w.1.0";

// The call may have been killed while it gave event files their names.
TEST_P(KilledStagingIn, AnEventFileThatHasItsNameAlreadyCounts) {
  const fs::path waits = waiting("run", kEvents);
  fs::create_directories(waits.parent_path());
  write_whole_file((waits.parent_path() / kEvents).string(), "events");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->exists("run", kEvents));
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kEvents), "events");
  EXPECT_THAT(all(), ElementsAre(std::string("run/") + kEvents));
}

TEST_P(KilledStagingIn, AnEmptyFileThatWaitsIsWrittenAnew) {
  leave("run", kFile, "");
  leave("run", kOther, "");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_FALSE(staging->exists("run", kFile));
    write(*staging, "run", kFile, "new");
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "new");
  EXPECT_THAT(all(), ElementsAre(std::string("run/") + kFile)) << "the other one is gone";
}

}  // namespace
}  // namespace tbtrace::logdir
