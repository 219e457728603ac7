#include "logdir/run_staging.h"

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
#include "io/folder_lock.h"
#include "io/sink.h"
#include "logdir/staging_fixture.h"

namespace tbtrace::logdir {
namespace {

namespace fs = std::filesystem;
using fixtures::read_whole_file;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

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
    EXPECT_TRUE(staging->finish("run").status.ok());
    EXPECT_EQ(read_whole_file(log("run/" + std::string(kFile))), "first");
    EXPECT_EQ(read_whole_file(log("run/" + std::string(kOther))), "second");
  }
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json", "run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, EventFilesWaitUnderOtherNames) {
  const std::vector<std::string> names = {"events.out.tfevents.1.tf~w.1", "tfevents.tf.tftf~~"};
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    for (const std::string& name : names) write(*staging, "run", name, name);
    const std::vector<std::string> waiting = tree(staging_folder().string());
    EXPECT_THAT(waiting, testing::Contains(testing::EndsWith(".partial")).Times(2));
    EXPECT_THAT(waiting, testing::Each(testing::Not(testing::HasSubstr("tfevents"))));
    for (const std::string& name : names) EXPECT_TRUE(staging->exists("run", name));
    EXPECT_TRUE(staging->finish("run").status.ok());
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
  EXPECT_TRUE(staging->finish("a").status.ok());
  EXPECT_TRUE(fs::exists(log("a/" + std::string(kFile))));
  EXPECT_FALSE(fs::exists(log("a/b")));
  EXPECT_TRUE(staging->finish("a/b/c").status.ok());
  EXPECT_FALSE(fs::exists(log("a/b/" + std::string(kFile))));
  EXPECT_TRUE(staging->finish("a/b").status.ok());
  EXPECT_TRUE(staging->finish("d").status.ok());
  EXPECT_EQ(staging->leftovers().files, 0u);
}

TEST_P(RunStagingIn, ARunThatIsThereGetsTheOtherFilesToo) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/notes.txt"), "mine");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    write(*staging, "run", kOther);
    EXPECT_TRUE(staging->finish("run").status.ok());
    write(*staging, "run", "late.pt.trace.json");  // and again
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_THAT(all(), ElementsAre("run/late.pt.trace.json", "run/notes.txt", "run/w.1.pt.trace.json",
                                 "run/w.2.pt.trace.json"));
}

TEST_P(RunStagingIn, AnEmptyFolderIsANewRun) {
  fs::create_directories(log("run"));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").status.ok());
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
    EXPECT_EQ(place.status().code(), StatusCode::output_exists);
    EXPECT_THAT(place.status().message(), HasSubstr("exists already"));
    write(*staging, "run", kOther);
    EXPECT_FALSE(staging->place("run", kOther).ok());  // two inputs of one name
    EXPECT_TRUE(staging->finish("run").status.ok());
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
    const Status finished = staging->finish("run").status;
    EXPECT_EQ(finished.code(), StatusCode::output_exists);
    EXPECT_THAT(finished.message(), StartsWith("run/w.1.pt.trace.json exists already"));
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
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "new");
  EXPECT_THAT(all(), ElementsAre("run/w.1.pt.trace.json"));
}

TEST_P(RunStagingIn, AReplacedFileKeepsItsPermissions) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "old");
  fs::permissions(log("run/") + kFile, fs::perms::owner_read | fs::perms::owner_write);
  const std::unique_ptr<RunStaging> staging = opened(logs(), {.overwrite = true});
  write(*staging, "run", kFile, "new", true);
  EXPECT_TRUE(staging->finish("run").status.ok());
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "new");
  EXPECT_EQ(fs::status(log("run/") + kFile).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_P(RunStagingIn, FilesOfOtherNamesGoOnceTheNewOneIsThere) {
  const std::vector<std::string> old = {"old", "old details", "old and never written anew"};
  const auto place_for = [](RunStaging& staging, const std::string& file,
                            const std::vector<std::string>& replaced) {
    const Result<std::string> place = staging.place("run", file, replaced);
    return place.ok() ? *place : place.status().message();
  };
  fs::create_directories(log("run"));
  for (const std::string& name : old) write_whole_file(log("run/" + name), "old");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.overwrite = true});
    write_whole_file(place_for(*staging, "new", {"old", "old details", "never there"}), "new");
    write_whole_file(place_for(*staging, "old details", {}), "new");
    place_for(*staging, "failed", {"old and never written anew"});
    for (const std::string& name : old) EXPECT_EQ(read_whole_file(log("run/" + name)), "old");
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_THAT(all(), ElementsAre("run/new", "run/old and never written anew", "run/old details"));
  EXPECT_EQ(read_whole_file(log("run/old details")), "new");
}

TEST_P(RunStagingIn, AnEmptyFileIsReplacedUnasked) {
  fs::create_directories(log("run"));
  write_whole_file(log("run/") + kFile, "");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.resume = true});
    EXPECT_FALSE(staging->exists("run", kFile));
    write(*staging, "run", kFile, "whole");
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "whole");
}

TEST_P(RunStagingIn, AFileThatIsReplacedStaysIfTheNewOneCannotBeMoved) {
  fs::create_directories(log("run/w.1.pt.trace.json.gz/in the way"));
  write_whole_file(log("run/") + kFile, "old");
  {
    const std::unique_ptr<RunStaging> staging = opened(logs(), {.overwrite = true});
    const Result<std::string> place = staging->place("run", "w.1.pt.trace.json.gz", {kFile});
    ASSERT_TRUE(place.ok());
    write_whole_file(*place, "new");
    const RunStaging::Finished finished = staging->finish("run");
    EXPECT_EQ(finished.status.code(), StatusCode::unwritable_output);
    EXPECT_THAT(finished.not_moved, ElementsAre("w.1.pt.trace.json.gz"));
  }
  EXPECT_EQ(read_whole_file(log("run/") + kFile), "old");
}

TEST_P(RunStagingIn, EventFilesWaitUntilAnotherWriterHasEnded) {
  constexpr const char* kEventFile = "events.out.tfevents.1.w.1.0";
  fs::create_directories(log("run"));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_TRUE(staging->check_lock("run").ok());
    EXPECT_TRUE(staging->check_lock("other").ok()) << "there is no such folder yet";
    write(*staging, "run", kEventFile);
    write(*staging, "run/below", kFile);
    Result<std::unique_ptr<io::FolderLock>> writer = io::FolderLock::try_lock(log("run"));
    ASSERT_TRUE(writer.ok() && *writer != nullptr);
    EXPECT_THAT(staging->check_lock("run").message(),
                HasSubstr("another program is writing to run"));
    const RunStaging::Finished finished = staging->finish("run");
    EXPECT_EQ(finished.status.code(), StatusCode::unwritable_output);
    EXPECT_THAT(finished.not_moved, ElementsAre(kEventFile));
    EXPECT_TRUE(fs::exists(waiting("run", kEventFile)));
    EXPECT_TRUE(staging->finish("run/below").status.ok()) << "which has no event files";
    writer->reset();
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_THAT(all(), testing::Contains(std::string("run/") + kEventFile));
}

TEST_P(RunStagingIn, NothingToFinishIsNoFailure) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    EXPECT_TRUE(staging->finish("never/begun").status.ok());
    placed(*staging, "run", kFile);  // and its writing failed
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  EXPECT_THAT(all(), IsEmpty());
}

TEST_P(RunStagingIn, AFailedWriteLeavesNothing) {
  {
    const std::unique_ptr<RunStaging> staging = opened(logs());
    Result<std::unique_ptr<io::ByteSink>> sink =
        io::create_file(placed(*staging, "a/run", kFile), {});
    ASSERT_TRUE(sink.ok());
    EXPECT_TRUE((*sink)->write("half of it").ok());
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
  EXPECT_TRUE(first->finish("run").status.ok());
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
            EXPECT_TRUE(staging->finish(run).status.ok());
          }
        }
        for (int number = 0; number < 10; ++number) {
          const std::string run = "r/" + std::to_string(number) + (thread == 0 ? "" : "/x");
          EXPECT_TRUE(staging->finish(run).status.ok());
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
    const Status finished = staging->finish("run/below").status;
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
      EXPECT_EQ(staging->finish(run).status.code(), StatusCode::invalid_argument) << run;
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
    EXPECT_TRUE(staging->finish("run").status.ok());
    EXPECT_TRUE(fs::exists(scratch.root() / meant / "run" / kFile)) << written;
  }
  fs::current_path(scratch.path("there/sub"));
  {
    const std::unique_ptr<RunStaging> staging = opened(".");
    fs::current_path(before);  // it does not matter any more
    write(*staging, "here", kFile);
    EXPECT_TRUE(staging->finish("here").status.ok());
  }
  EXPECT_THAT(tree(scratch.path("there/sub")),
              ElementsAre("here/w.1.pt.trace.json", "run/w.1.pt.trace.json"));
  EXPECT_THAT(scratch.names(),
              ElementsAre("absolute", "deep", "link", "new", "new2", "new3", "new4", "there"));
}

TEST(RunStaging, OneCallAtATimeWritesWhereverFilesWait) {
  const ScratchFolder scratch;
  const std::unique_ptr<RunStaging> beside = opened(scratch.path("logs"));
  fs::rename(scratch.path(".logs.tbtrace-partial"), scratch.path("moved"));
  write_whole_file(scratch.path(".logs.tbtrace-partial"), "in the way of the second call");
  const auto inside = RunStaging::open(scratch.path("logs"), {});
  ASSERT_FALSE(inside.ok());
  EXPECT_THAT(inside.status().message(), HasSubstr("another conversion is writing"));
}

TEST(RunStaging, ALogDirectoryMustBeADirectory) {
  const ScratchFolder scratch;
  write_whole_file(scratch.path("file"), "");
  fs::create_symlink("nowhere/else", scratch.path("dangling"));
  const std::vector<std::pair<std::string, std::string>> cases = {
      {scratch.path("file"), "is a file"},
      {scratch.path("file/below"), "Not a directory"},
      {scratch.path("dangling"), "cannot create this directory"},
      {scratch.path(std::string(300, 'x')), "File name too long"},
      {"", "cannot create this directory"}};
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
  EXPECT_TRUE(staging->finish("run").status.ok());
  EXPECT_TRUE(fs::is_empty(scratch.path("elsewhere")));
  EXPECT_TRUE(fs::exists(scratch.path("logs/run/") + kFile));
}

TEST(RunStaging, ANameTooLongForAStagingBesideIsNone) {
  const ScratchFolder scratch;
  const std::string logs = scratch.path(std::string(250, 'x'));
  {
    const std::unique_ptr<RunStaging> staging = opened(logs);
    write(*staging, "run", kFile);
    EXPECT_TRUE(staging->finish("run").status.ok());
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
    EXPECT_TRUE(staging->finish("run").status.ok());
  }
  struct stat logs = {};
  struct stat run = {};
  ASSERT_EQ(::stat(scratch.path("logs").c_str(), &logs), 0);
  ASSERT_EQ(::stat(scratch.path("logs/run").c_str(), &run), 0);
  EXPECT_EQ(run.st_gid, logs.st_gid);
  EXPECT_NE(run.st_mode & S_ISGID, 0U);
}

}  // namespace
}  // namespace tbtrace::logdir
