#include "live/recorded_summaries.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixtures/event_reading.h"
#include "fixtures/file_size_limit.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/trace_rows.h"
#include "io/folder_lock.h"

namespace tbtrace::live {
namespace {

using fixtures::ScratchFolder;
using testing::ElementsAre;
using testing::HasSubstr;

/// A window of two steps, from `first` on.
Trace window(int first) {
  TraceBuilder builder;
  for (int step = first; step < first + 2; ++step) {
    const std::string name = "ProfilerStep#" + std::to_string(step);
    fixtures::add(
        builder,
        {.category = "user_annotation", .name = name, .start = step * 1000, .duration = 900});
    fixtures::add(builder, {.name = "aten::mm", .start = step * 1000 + 100, .duration = 50});
  }
  return fixtures::finished(builder);
}

/// Steps of a tag's values in a run, in the order in which loaders meet them.
std::vector<std::int64_t> steps(const std::string& run, const std::string& tag) {
  std::vector<std::int64_t> found;
  for (const proto::Event& event : fixtures::events_in(run)) {
    if (event.summary().value_size() > 0 && event.summary().value(0).tag() == tag) {
      found.push_back(event.step());
    }
  }
  return found;
}
const std::string kTime = "profile/step_time_ms";
const std::string kTable = "profile/operators/text_summary";

TEST(RecordedSummaries, AreARunOfTheWorker) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.path("logs"), "a/b worker");
  EXPECT_FALSE(std::filesystem::exists(folder.path("logs")));
  ASSERT_TRUE(summaries.add(window(7)).ok());
  ASSERT_TRUE(summaries.add(window(17)).ok());
  const std::string run = folder.path("logs/a_b worker");
  EXPECT_THAT(steps(run, kTime), ElementsAre(7, 8, 17, 18));
  EXPECT_THAT(steps(run, kTable), ElementsAre(8, 18));
  EXPECT_THAT(steps(run, "custom_scalars__config__"), ElementsAre(0));
}

TEST(RecordedSummaries, KeepTablesOfFewWindowsAndOfTheLast) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.root().string(), "w");
  for (int number = 0; number < 1000; ++number) {
    ASSERT_TRUE(summaries.add(window(number * 10)).ok());
  }
  ASSERT_TRUE(summaries.finish().ok());
  EXPECT_EQ(steps(folder.path("w"), kTime).size(), 2000);
  EXPECT_THAT(steps(folder.path("w"), kTable),
              ElementsAre(1, 11, 21, 31, 41, 91, 291, 991, 2991, 9991))
      << "the 1000th is the last, too";
  ASSERT_TRUE(summaries.add(window(10000)).ok());
  ASSERT_TRUE(summaries.finish().ok());
  ASSERT_TRUE(summaries.finish().ok());
  EXPECT_EQ(steps(folder.path("w"), kTable).size(), 11);
}

TEST(RecordedSummaries, StepsGrowWhateverTheirNumbers) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.root().string(), "w");
  for (const int first : {7, 7, 3, 100, 0}) ASSERT_TRUE(summaries.add(window(first)).ok());
  EXPECT_THAT(steps(folder.path("w"), kTime), ElementsAre(7, 8, 9, 10, 11, 12, 100, 101, 102, 103));
}

TEST(RecordedSummaries, GoOnBehindAnEarlierLife) {
  const ScratchFolder folder;
  for (int life = 0; life < 3; ++life) {
    RecordedSummaries summaries(folder.root().string(), "w");
    ASSERT_TRUE(summaries.add(window(7)).ok());
  }
  EXPECT_EQ(fixtures::event_files(folder.path("w")).size(), 3);
  EXPECT_THAT(steps(folder.path("w"), kTime), ElementsAre(7, 8, 9, 10, 11, 12));
}

TEST(RecordedSummaries, LeaveARunToWhoWritesIt) {
  const ScratchFolder folder;
  const auto lock = io::FolderLock::try_lock(folder.path("w_3"));
  ASSERT_TRUE(lock.ok() && *lock != nullptr);
  RecordedSummaries second(folder.root().string(), "w_3");
  RecordedSummaries third(folder.root().string(), "w_3");
  ASSERT_TRUE(second.add(window(1)).ok());
  ASSERT_TRUE(third.add(window(2)).ok());
  EXPECT_THAT(steps(folder.path("w_3"), kTime), ElementsAre());
  EXPECT_THAT(steps(folder.path("w-2_3"), kTime), ElementsAre(1, 2));
  EXPECT_THAT(steps(folder.path("w-3_3"), kTime), ElementsAre(2, 3));
}

TEST(RecordedSummaries, AFullDiskLosesNothingThatFitsLater) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.root().string(), "w");
  {
    const fixtures::FileSizeLimit limit(1500);
    const Status full = summaries.add(window(7));
    EXPECT_EQ(full.code(), StatusCode::unwritable_output);
    EXPECT_THAT(full.message(), HasSubstr("File too large"));
    EXPECT_FALSE(summaries.add(window(17)).ok());
  }
  ASSERT_TRUE(summaries.add(window(27)).ok());
  EXPECT_THAT(steps(folder.path("w"), kTime), ElementsAre(7, 8, 17, 18, 27, 28));
  EXPECT_THAT(steps(folder.path("w"), kTable), ElementsAre(8, 18, 28));
}

TEST(RecordedSummaries, MakeARunThatVanishedAgain) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.path("logs"), "w");
  ASSERT_TRUE(summaries.add(window(7)).ok());
  std::filesystem::remove_all(folder.path("logs"));
  ASSERT_TRUE(summaries.add(window(7)).ok());
  EXPECT_THAT(steps(folder.path("logs/w"), kTime), ElementsAre(9, 10));
  EXPECT_THAT(steps(folder.path("logs/w"), "custom_scalars__config__"), ElementsAre(0));
}

TEST(RecordedSummaries, AnEndWithoutADirectoryIsToldOrMended) {
  for (const bool in_the_way : {false, true}) {
    const ScratchFolder folder;
    RecordedSummaries summaries(folder.path("logs"), "w");
    for (const int first : {0, 10, 20, 30, 40, 50}) ASSERT_TRUE(summaries.add(window(first)).ok());
    std::filesystem::remove_all(folder.path("logs"));
    if (in_the_way) {
      fixtures::write_whole_file(folder.path("logs"), "mine");
      EXPECT_FALSE(summaries.add(window(60)).ok());
      EXPECT_EQ(summaries.finish().code(), StatusCode::unwritable_output);
    } else {
      EXPECT_TRUE(summaries.finish().ok());
      EXPECT_THAT(steps(folder.path("logs/w"), kTable), ElementsAre(51));
    }
  }
}

TEST(RecordedSummaries, WindowsThatWaitForRoomSurviveTheirDirectory) {
  const ScratchFolder folder;
  RecordedSummaries summaries(folder.path("logs"), "w");
  ASSERT_TRUE(summaries.add(window(7)).ok());
  {
    const fixtures::FileSizeLimit limit(
        std::filesystem::file_size(fixtures::event_files(folder.path("logs/w")).at(0)) + 100);
    EXPECT_FALSE(summaries.add(window(17)).ok());
    EXPECT_FALSE(summaries.add(window(27)).ok());
  }
  std::filesystem::remove_all(folder.path("logs"));
  ASSERT_TRUE(summaries.add(window(37)).ok());
  EXPECT_THAT(steps(folder.path("logs/w"), kTime), ElementsAre(17, 18, 27, 28, 37, 38));
}

TEST(RecordedSummaries, TellWhatStandsInTheWay) {
  const ScratchFolder folder;
  fixtures::write_whole_file(folder.path("w"), "mine");
  RecordedSummaries summaries(folder.root().string(), "w");
  const Status status = summaries.add(window(7));
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
  EXPECT_THAT(status.message(), HasSubstr(folder.path("w")));
  EXPECT_TRUE(summaries.finish().ok());
  std::filesystem::remove(folder.path("w"));
  EXPECT_TRUE(summaries.add(window(7)).ok());
}

TEST(RecordedSummaries, AForkedChildLeavesThemToItsParent) {
  const ScratchFolder folder;
  auto* const summaries = new RecordedSummaries(folder.root().string(), "w");
  ASSERT_TRUE(summaries->add(window(7)).ok());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_forked = summaries->is_forked();
    delete summaries;
    ::_exit(is_forked ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(summaries->is_forked());
  const auto lock = io::FolderLock::try_lock(folder.path("w"));
  EXPECT_TRUE(lock.ok() && *lock == nullptr) << "the parent still has it";
  ASSERT_TRUE(summaries->add(window(17)).ok());
  delete summaries;
  EXPECT_THAT(steps(folder.path("w"), kTime), ElementsAre(7, 8, 17, 18));
}

}  // namespace
}  // namespace tbtrace::live
