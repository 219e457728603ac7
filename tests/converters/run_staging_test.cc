#include "converters/run_staging.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"

namespace tbtrace::converters {
namespace {

namespace fs = std::filesystem;
using fixtures::read_whole_file;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kFile = "w.1.pt.trace.json";
constexpr const char* kOther = "w.2.pt.trace.json";

std::unique_ptr<RunStaging> opened(const std::string& directory, RunStaging::Options options = {}) {
  Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(directory, options);
  EXPECT_TRUE(staging.ok()) << staging.status().message();
  return staging.ok() ? *std::move(staging) : nullptr;
}

std::string placed(RunStaging& staging, const std::string& run, const std::string& file) {
  const Result<std::string> place = staging.place(run, file);
  EXPECT_TRUE(place.ok()) << place.status().message();
  return place.ok() ? *place : "";
}

void write(RunStaging& staging, const std::string& run, const std::string& file,
           const std::string& text = "text", bool overwrite = false) {
  Result<std::unique_ptr<io::ByteSink>> sink =
      io::create_file(placed(staging, run, file), overwrite);
  ASSERT_TRUE(sink.ok()) << sink.status().message();
  EXPECT_TRUE((*sink)->write(text).ok());
  EXPECT_TRUE((*sink)->close().ok());
}

/// All files and empty folders below a folder, sorted.
std::vector<std::string> tree(const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const std::string name = entry.path().lexically_relative(root).string();
    if (!entry.is_directory()) names.push_back(name);
    if (entry.is_directory() && fs::is_empty(entry.path())) names.push_back(name + "/");
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Where files wait: beside the log directory, or in it where something is in the way.
class RunStagingIn : public testing::TestWithParam<bool> {
 protected:
  RunStagingIn() {
    if (inside()) write_whole_file(scratch_.path("the/.logs.tbtrace-partial"), "in the way");
  }
  static bool inside() { return GetParam(); }
  std::string logs() const { return scratch_.path("the/logs"); }
  std::string log(const std::string& name) const { return logs() + "/" + name; }
  fs::path staging_folder() const {
    return inside() ? log(".tbtrace-partial") : scratch_.path("the/.logs.tbtrace-partial");
  }
  std::string waiting(const std::string& run, const std::string& file) const {
    std::string name = file;
    const std::size_t events = file.find("tfevents");
    const bool is_events = events != std::string::npos;
    if (is_events) name.insert(events + 2, "~");
    if (inside() || is_events) name += ".partial";
    return (staging_folder() / run / ".run" / name).string();
  }
  /// As a call leaves it that was killed.
  void leave(const std::string& run, const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(waiting(run, file)).parent_path());
    write_whole_file(waiting(run, file), text);
  }
  /// What is in the log directory, what is beside it being nothing else than it should be. An empty
  /// log directory that was made for nothing is gone.
  std::vector<std::string> all() const {
    std::vector<std::string> beside;
    for (const auto& entry : fs::directory_iterator(scratch_.path("the"))) {
      if (entry.path() != logs()) beside.push_back(entry.path().filename().string());
    }
    const std::vector<std::string> expected =
        inside() ? std::vector<std::string>{".logs.tbtrace-partial"} : std::vector<std::string>();
    EXPECT_EQ(beside, expected);
    return fs::exists(logs()) ? tree(logs()) : std::vector<std::string>();
  }

 private:
  struct Scratch : ScratchFolder {
    Scratch() { fs::create_directory(path("the")); }
  };
  Scratch scratch_;
};

INSTANTIATE_TEST_SUITE_P(Places, RunStagingIn, testing::Bool(),
                         [](const auto& place) { return place.param ? "Inside" : "Beside"; });

TEST_P(RunStagingIn, ARunAppearsWhenItIsFinished) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile, "first");
    write(*staging, "run", kOther, "second");
    EXPECT_FALSE(fs::exists(log("run")));
    for (const std::string& name : tree(logs())) {
      EXPECT_THAT(name, testing::Not(testing::EndsWith(".json")));  // the plugin passes it over
    }
    EXPECT_TRUE(staging->finish("run").ok());
    EXPECT_EQ(read_whole_file(log("run/" + std::string(kFile))), "first");
    EXPECT_EQ(read_whole_file(log("run/" + std::string(kOther))), "second");
  }
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json", "run/w.2.pt.trace.json"));
}

// TensorBoard takes any file for an event file that has `tfevents` in its name.
TEST_P(RunStagingIn, EventFilesWaitUnderOtherNames) {
  const std::vector<std::string> names = {"events.out.tfevents.1.tf~w.1", "tfevents.tf.tftf~~"};
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    for (const std::string& name : names) write(*staging, "run", name, name);
    const std::vector<std::string> waiting = tree(staging_folder().string());
    EXPECT_THAT(waiting, testing::Contains(testing::EndsWith(".partial")).Times(2));
    EXPECT_THAT(waiting, testing::Each(testing::Not(testing::HasSubstr("tfevents"))));
    for (const std::string& name : names) EXPECT_TRUE(staging->exists("run", name));
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_THAT(all(), ElementsAre("run/" + names[0], "run/" + names[1]));
  for (const std::string& name : names) EXPECT_EQ(read_whole_file(log("run/" + name)), name);
}

TEST_P(RunStagingIn, ListsTheFilesThatCount) {
  leave("run", "events.out.tfevents.1", "left");
  fs::create_directories(log("run"));
  write_whole_file(log("run/there"), "there");
  using Names = std::vector<std::string>;
  const auto names = [](const RunStaging& staging) {
    Names found;
    for (const auto& [name, path] : staging.files("run")) {
      EXPECT_TRUE(fs::exists(path));
      found.push_back(name);
    }
    return found;
  };
  EXPECT_EQ(names(*opened(logs(), {.resume = true})), (Names{"events.out.tfevents.1", "there"}));
  const std::unique_ptr<RunStaging> staging = opened(logs());
  EXPECT_EQ(names(*staging), Names{"there"});
  write(*staging, "run", "events.out.tfevents.2");
  EXPECT_EQ(names(*staging), (Names{"events.out.tfevents.2", "there"}));
}

TEST_P(RunStagingIn, RunsWaitForThemselvesAlone) {
  const std::unique_ptr<RunStaging> staging = opened(logs());
  write(*staging, "a", kFile);
  write(*staging, "a/b", kFile);
  write(*staging, "a/b/c", kFile);
  write(*staging, "d", kFile);
  EXPECT_TRUE(staging->finish("a").ok());
  EXPECT_TRUE(fs::exists(log("a/" + std::string(kFile))));
  EXPECT_FALSE(fs::exists(log("a/b")));
  EXPECT_TRUE(staging->finish("a/b/c").ok());
  EXPECT_FALSE(fs::exists(log("a/b/" + std::string(kFile))));
  EXPECT_TRUE(staging->finish("a/b").ok());
  EXPECT_TRUE(staging->finish("d").ok());
  EXPECT_THAT(tree(staging_folder()), ElementsAre(".lock"));
}

TEST_P(RunStagingIn, ARunThatIsThereGetsTheOtherFilesToo) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/notes.txt"), "mine");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    write(*staging, "run", kOther);
    EXPECT_TRUE(staging->finish("run").ok());
    write(*staging, "run", "late.pt.trace.json");  // and again
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_THAT(all(), ElementsAre("run/late.pt.trace.json", "run/notes.txt", "run/w.1.pt.trace.json",
                                 "run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, AnEmptyFolderIsANewRun) {
  fs::create_directories(log("run"));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, RefusesAFileThatIsThereBeforeItIsWritten) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "old");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_TRUE(staging->exists("run", kFile));
    EXPECT_FALSE(staging->exists("run", kOther));
    const Result<std::string> place = staging->place("run", kFile);
    ASSERT_FALSE(place.ok());
    EXPECT_EQ(place.status().code(), StatusCode::unwritable_output);
    EXPECT_THAT(place.status().message(), HasSubstr("exists already; "));
    write(*staging, "run", kOther);
    EXPECT_FALSE(staging->place("run", kOther).ok());  // two inputs of one name
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "old");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json", "run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, AFileThatAppearedMeanwhileWins) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile, "ours");
    write(*staging, "run", kOther, "ours");
    fs::create_directories(log("run"));
    write_whole_file(log("run/") + kFile, "theirs");
    const Status finished = staging->finish("run");
    EXPECT_EQ(finished.code(), StatusCode::unwritable_output);
    EXPECT_THAT(finished.message(), StartsWith("run/w.1.pt.trace.json exists already; "));
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "theirs");
  EXPECT_EQ(read_whole_file(log("run/") + kOther), "ours");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json", "run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, ReplacesFilesWhenAsked) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "old");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.overwrite = true});
    EXPECT_TRUE(staging->exists("run", kFile));
    write(*staging, "run", kFile, "new", true);
    EXPECT_EQ(read_whole_file(log("run/") + kFile), "old");
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "new");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, NothingToFinishIsNoFailure) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_TRUE(staging->finish("never/begun").ok());
    placed(*staging, "run", kFile);  // and its writing failed
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_THAT(all(), IsEmpty());
}

TEST_P(RunStagingIn, AFailedWriteLeavesNothing) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    Result<std::unique_ptr<io::ByteSink>> sink =
        io::create_file(placed(*staging, "a/run", kFile), false);
    ASSERT_TRUE(sink.ok());
    EXPECT_TRUE((*sink)->write("half of it").ok());
  }
  EXPECT_THAT(all(), IsEmpty());
}

TEST_P(RunStagingIn, WhatWasNotFinishedStaysForACallThatResumes) {
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
    EXPECT_TRUE(staging->finish("a/run").ok());
    EXPECT_TRUE(staging->exists("a/run", kFile));
  }
  EXPECT_EQ(read_whole_file(log("a/run/") + kFile), "finished");
  EXPECT_THAT(all(), ElementsAre("a/run/w.1.pt.trace.json", "a/run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, AllMayHaveBeenWrittenWhenItWasKilled) {
  leave("run", kFile, "finished");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "finished");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, LeftoversAreReplacedWithoutResume) {
  leave("run", kFile, "of yesterday");
  leave("run", kOther, "of yesterday");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_FALSE(staging->exists("run", kFile));
    write(*staging, "run", kFile, "of today");
    EXPECT_TRUE(staging->exists("run", kFile));
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "of today");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, LeftoversOfOtherRunsStay) {
  leave("other", kFile, "of yesterday");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").ok());
    EXPECT_TRUE(staging->finish("other").ok());
    EXPECT_FALSE(fs::exists(log("other")));
  }
  EXPECT_EQ(read_whole_file(waiting("other", kFile)), "of yesterday");
}

TEST_P(RunStagingIn, ALeftoverOfAFileThatIsThereGoes) {
  leave("run", kFile, "of yesterday");
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "there");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_TRUE(staging->exists("run", kFile));
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "there");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, HalfFilesOfAKilledCallGo) {
  for (const bool resume : {false, true}) {
    const std::string half = waiting("a/run", kFile) + ".tmp-123-1";
    fs::create_directories(fs::path(half).parent_path());
    write_whole_file(half, "half of it");
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = resume});
    EXPECT_FALSE(fs::exists(half));
    EXPECT_FALSE(staging->exists("a/run", kFile));
    EXPECT_TRUE(staging->finish("a/run").ok());
  }
  EXPECT_THAT(all(), IsEmpty());
}

TEST_P(RunStagingIn, OneCallAtATimeWrites) {
  std::unique_ptr<RunStaging> first = opened(logs());
  const Result<std::unique_ptr<RunStaging>> second = RunStaging::open(logs() + "/.", {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::unwritable_output);
  EXPECT_THAT(second.status().message(), StartsWith("another conversion is writing to this dir"));
  write(*first, "run", kFile);
  EXPECT_TRUE(first->finish("run").ok());
  first.reset();
  EXPECT_NE(opened(logs()), nullptr);
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, ThreadsPlaceAndFinish) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&staging, thread] {
        for (int round = 0; round < 100; ++round) {
          const std::string run = "r/" + std::to_string(round % 10) + (thread == 0 ? "" : "/x");
          write(*staging, run, "w" + std::to_string(round) + ".pt.trace.json");
          if (round % 3 == 0) {
            EXPECT_TRUE(staging->finish(run).ok());
          }
        }
        for (int number = 0; number < 10; ++number) {
          const std::string run = "r/" + std::to_string(number) + (thread == 0 ? "" : "/x");
          EXPECT_TRUE(staging->finish(run).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const std::vector<std::string> files = all();
  EXPECT_EQ(files.size(), 200U);
  EXPECT_EQ(std::count(files.begin(), files.end(), "r/7/x/w97.pt.trace.json"), 1);
}

TEST_P(RunStagingIn, AFileInThePlaceOfARunIsAFailure) {
  fs::create_directories(logs());
  write_whole_file(log("run"), "");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_THAT(staging->place("run", kFile).status().message(), HasSubstr("is a file"));
    write(*staging, "run/below", kFile);
    const Status finished = staging->finish("run/below");
    EXPECT_EQ(finished.code(), StatusCode::unwritable_output);
    EXPECT_THAT(finished.message(), HasSubstr("Not a directory"));
    EXPECT_TRUE(fs::exists(waiting("run/below", kFile)));
  }
  EXPECT_TRUE(fs::exists(waiting("run/below", kFile)));
}

TEST_P(RunStagingIn, NamesStayBelowTheLogDirectory) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    for (const char* run :
         {"", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/./b", ".a"}) {
      EXPECT_EQ(staging->place(run, kFile).status().code(), StatusCode::invalid_argument) << run;
      EXPECT_EQ(staging->finish(run).code(), StatusCode::invalid_argument) << run;
      EXPECT_FALSE(staging->exists(run, kFile));
    }
    for (const std::string& file : {std::string(), std::string("a/b"), std::string(".."),
                                    std::string(".x"), std::string("a\0b", 3)}) {
      EXPECT_EQ(staging->place("run", file).status().code(), StatusCode::invalid_argument) << file;
    }
  }
  EXPECT_THAT(all(), IsEmpty());
}

TEST(RunStaging, TakesALogDirectoryHoweverItIsWritten) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path("there"));
  fs::create_directory_symlink("there", scratch.path("link"));
  const fs::path before = fs::current_path();
  fs::current_path(scratch.root());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"new", "new"},
      {"new2/", "new2"},
      {"deep/er/new//", "deep/er/new"},
      {"./new3/.", "new3"},
      {"there/../new4", "new4"},
      {"link", "there"},
      {"link/sub/", "there/sub"},
      {scratch.path("absolute"), "absolute"}};
  for (const auto& [written, meant] : cases) {
    const std::unique_ptr<RunStaging> staging = opened(written);
    write(*staging, "run", kFile);
    EXPECT_EQ(placed(*staging, "run", kOther).find(scratch.path("")), 0U);
    EXPECT_TRUE(staging->finish("run").ok());
    EXPECT_TRUE(fs::exists(scratch.root() / meant / "run" / kFile)) << written;
  }
  fs::current_path(scratch.path("there/sub"));
  {
    const std::unique_ptr<RunStaging> staging = opened(".");
    fs::current_path(before);  // it does not matter any more
    write(*staging, "here", kFile);
    EXPECT_TRUE(staging->finish("here").ok());
  }
  EXPECT_THAT(tree(scratch.path("there/sub")),
              ElementsAre("here/w.1.pt.trace.json", "run/w.1.pt.trace.json"));
  EXPECT_THAT(scratch.names(),
              ElementsAre("absolute", "deep", "link", "new", "new2", "new3", "new4", "there"));
}

TEST(RunStaging, ALogDirectoryMustBeADirectory) {
  const ScratchFolder scratch;
  write_whole_file(scratch.path("file"), "");
  fs::create_symlink("nowhere/else", scratch.path("dangling"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {scratch.path("file"), "is a file"},
      {scratch.path("file/below"), "Not a directory"},
      {scratch.path("dangling"), "cannot make this directory"},
      {scratch.path(std::string(300, 'x')), "File name too long"},
      {"", "cannot make this directory"}};
  for (const auto& [directory, cause] : cases) {
    const Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(directory, {});
    ASSERT_FALSE(staging.ok()) << directory;
    EXPECT_EQ(staging.status().code(), StatusCode::unwritable_output);
    EXPECT_THAT(staging.status().message(), HasSubstr(cause));
  }
  EXPECT_THAT(scratch.names(), ElementsAre("dangling", "file"));
}

TEST(RunStaging, AFolderThatCannotBeWrittenIsAFailure) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ScratchFolder scratch;
  fs::create_directories(scratch.path("parent/logs"));
  fs::permissions(scratch.path("parent/logs"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(RunStaging::open(scratch.path("parent/logs"), {}).status().code(),
            StatusCode::unwritable_output);
  fs::permissions(scratch.path("parent/logs"), fs::perms::owner_all);
  fs::permissions(scratch.path("parent"), fs::perms::owner_read | fs::perms::owner_exec);
  const std::unique_ptr<RunStaging> staging = opened(scratch.path("parent/logs"));
  EXPECT_THAT(placed(*staging, "run", kFile), StartsWith(scratch.path("parent/logs/.tbtrace-")));
  fs::permissions(scratch.path("parent"), fs::perms::owner_all);
}

TEST(RunStaging, ALinkInThePlaceOfTheStagingIsNotFollowed) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path("elsewhere"));
  fs::create_directory_symlink("elsewhere", scratch.path(".logs.tbtrace-partial"));
  const std::unique_ptr<RunStaging> staging = opened(scratch.path("logs"));
  write(*staging, "run", kFile);
  EXPECT_TRUE(staging->finish("run").ok());
  EXPECT_TRUE(fs::is_empty(scratch.path("elsewhere")));
  EXPECT_TRUE(fs::exists(scratch.path("logs/run/") + kFile));
}

TEST(RunStaging, ANameTooLongForAStagingBesideIsNone) {
  const ScratchFolder scratch;
  const std::string logs = scratch.path(std::string(250, 'x'));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs);
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").ok());
  }
  EXPECT_THAT(tree(logs), ElementsAre("run/w.1.pt.trace.json"));
}

TEST(RunStaging, FilesHaveTheGroupOfTheLogDirectory) {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path("logs"));
  ASSERT_EQ(::chmod(scratch.path("logs").c_str(), 02775), 0);
  {
    const std::unique_ptr<RunStaging> staging = opened(scratch.path("logs"));
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").ok());
  }
  struct stat logs = {};
  struct stat run = {};
  ASSERT_EQ(::stat(scratch.path("logs").c_str(), &logs), 0);
  ASSERT_EQ(::stat(scratch.path("logs/run").c_str(), &run), 0);
  EXPECT_EQ(run.st_gid, logs.st_gid);
  EXPECT_NE(run.st_mode & S_ISGID, 0U);
}

}  // namespace
}  // namespace tbtrace::converters
