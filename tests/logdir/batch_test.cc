// Many inputs on several threads, some of which fail in ways that no Status tells.
#include "logdir/batch.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::logdir {
namespace {

using fixtures::ScratchFolder;
using testing::HasSubstr;

/// Where an input runs out of memory.
enum class Place { nowhere, open, name, write, close };

/// A file that consists of its name.
class FakeOutput final : public LogOutput {
 public:
  /// `directory` is the log directory.
  FakeOutput(std::string name, Place place, std::string directory)
      : name_(std::move(name)), place_(place), directory_(std::move(directory)) {}

  LogPlace name(LogFile& file) override {
    if (place_ == Place::name) throw std::bad_alloc();
    return taken_ = {.folder = file.run, .name = name_, .twins = {name_ + ".twin"}};
  }
  Result<LogPlace> take_place() override { return taken_; }
  Result<Changes> write(io::ByteSink& sink) override {
    twin_was_there_ = std::filesystem::exists(twin());
    if (Status written = sink.write(name_); !written.ok()) return written;
    if (place_ == Place::write) throw std::bad_alloc();
    if (place_ == Place::close) throw std::length_error("too long");
    if (Status closed = sink.close(); !closed.ok()) return closed;
    EXPECT_EQ(std::filesystem::exists(twin()), twin_was_there_);
    return Changes();
  }

 private:
  std::filesystem::path twin() const {
    return std::filesystem::path(directory_) / taken_.folder / taken_.twins.front();
  }

  std::string name_;
  Place place_;
  std::string directory_;
  LogPlace taken_;
  bool twin_was_there_ = false;
};

/// Where two threads that finish folders wait for each other.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  int there = 0;
  bool all_met = false;
};

/// Inputs are called `3 write`: their number, and where they fail.
class FakeKind final : public LogKind {
 public:
  explicit FakeKind(std::string directory) : directory_(std::move(directory)) {}
  ArgumentSet arguments() const override { return {}; }
  bool rewrites() const override { return false; }
  std::unique_ptr<LogOutput> output(const std::string& path, const Trace& /*trace*/,
                                    chrome::TraceConverter* /*converter*/) override {
    Place place = Place::nowhere;
    if (path.ends_with("open")) throw std::bad_alloc();
    if (path.ends_with("name")) place = Place::name;
    if (path.ends_with("write")) place = Place::write;
    if (path.ends_with("close")) place = Place::close;
    return std::make_unique<FakeOutput>(std::filesystem::path(path).filename(), place, directory_);
  }
  std::vector<std::string> folders_left(const std::string& /*run*/) override { return {}; }
  Status finish(const std::string& folder) override {
    if (meeting != nullptr) {
      std::unique_lock lock(meeting->mutex);
      ++meeting->there;
      meeting->changed.notify_all();
      meeting->all_met = meeting->changed.wait_for(lock, std::chrono::seconds(20),
                                                   [&] { return meeting->there >= 2; });
    }
    if (folder != failing) return {};
    return {StatusCode::unwritable_output, "cannot be finished"};
  }

  std::string failing;  // a folder
  Meeting* meeting = nullptr;

 private:
  std::string directory_;
};

struct BatchTest : testing::Test {
  /// Converts inputs of these names.
  Conversion run(const std::vector<std::string>& names, int threads,
                 const std::vector<std::string>& runs = {"run"}) {
    std::vector<inputs::FoundInput> found;
    for (const std::string& name : names) {
      fixtures::write_whole_file(input(name), fixtures::trace_text({fixtures::op("a")}));
      found.push_back(
          {.path = input(name), .run = runs[found.size() % runs.size()], .problem = {}});
    }
    Result<std::unique_ptr<RunStaging>> staging =
        RunStaging::open(directory, {.overwrite = options.log.overwrite});
    EXPECT_TRUE(staging.ok());
    std::vector<std::unique_ptr<LogKind>> kinds;
    kinds.push_back(std::make_unique<FakeKind>(kind));
    const LogFiles log_files(std::move(kinds), options);
    return Batch(found, directory, **staging, log_files, options).run(threads);
  }

  std::string input(const std::string& name) const { return inputs.path(name); }

  /// All that is below the folder of the test, except for folders and locks.
  std::set<std::string> files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.root())) {
      if (entry.path().filename() == ".lock") continue;
      if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder.root()));
    }
    return files;
  }

  ScratchFolder folder;
  ScratchFolder inputs;
  std::string directory = folder.path("logs");
  FakeKind kind{directory};
  ConvertOptions options;
};

TEST_F(BatchTest, ReportsInputsInTheirOrderOnceTheirFilesAreVisible) {
  std::vector<std::string> paths;
  for (int number = 0; number < 40; ++number) {
    paths.push_back(std::to_string(number) + (number % 5 == 3 ? " write" : " well"));
  }
  kind.failing = "b";
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    std::vector<std::string> told;
    options.on_input = [&](const ConvertedInput& input) {
      told.push_back(std::filesystem::path(input.input).filename());
      EXPECT_NE(input.state, ConvertedInput::State::not_tried);
      if (input.state == ConvertedInput::State::written) {
        EXPECT_TRUE(std::filesystem::exists(input.files.at(0).path)) << input.input;
      }
      EXPECT_EQ(input.status.ok(), input.input.ends_with("well"));
    };
    const Conversion conversion = run(paths, threads, {"a", "b", "c", "c/d"});
    EXPECT_EQ(told, paths);
    ASSERT_EQ(conversion.failed_runs.size(), 1u);
    EXPECT_EQ(conversion.failed_runs[0].first, "b");
    std::filesystem::remove_all(directory);
  }
}

// A worker's folder in `a` may be the run `a/b`.
TEST_F(BatchTest, RunsThatLieInAnotherAreFinishedWithIt) {
  std::size_t visible = 0;
  options.on_input = [&](const ConvertedInput&) {
    if (visible == 0) visible = files().size();
  };
  run({"1", "2", "3", "4"}, 1, {"a", "a/b"});
  EXPECT_EQ(visible, 4u);
}

TEST_F(BatchTest, FilesThatAreReplacedStayUntilTheNewOnesAreVisible) {
  options.log.overwrite = true;
  for (const int threads : {1, 2}) {
    std::filesystem::create_directories(directory + "/run");
    for (const char* const name : {"1.twin", "2.twin", "3 write.twin"}) {
      fixtures::write_whole_file(directory + "/run/" + name, "old");
    }
    run({"1", "2", "3 write"}, threads);
    EXPECT_EQ(files(), (std::set<std::string>{"logs/run/1", "logs/run/2", "logs/run/3 write.twin"}))
        << "that of an input that failed stays";
    std::filesystem::remove_all(directory);
  }
}

TEST_F(BatchTest, FinishesFoldersOnSeveralThreads) {
  Meeting meeting;
  kind.meeting = &meeting;
  run({"1", "2"}, 2, {"a", "b"});
  EXPECT_TRUE(meeting.all_met) << "one folder was finished after the other";
}

TEST(ThreadsPerInput, AreSharedAmongFewInputs) {
  EXPECT_EQ(threads_per_input(8, 2), 4);
  EXPECT_EQ(threads_per_input(2, 4), 1);
  EXPECT_EQ(threads_per_input(3, 0), 3);
}

TEST_F(BatchTest, OnlyTheInputWhoseFileCannotBeMovedFails) {
  options.log.overwrite = true;
  for (const int threads : {1, 2}) {
    std::filesystem::create_directories(directory + "/run/2/in the way");
    const Conversion conversion = run({"1", "2", "3"}, threads);
    for (const ConvertedInput& input : conversion.inputs) {
      SCOPED_TRACE(input.input);
      const bool is_written = input.input != this->input("2");
      EXPECT_EQ(input.status.ok(), is_written);
      EXPECT_EQ(input.files.at(0).written, is_written);
      EXPECT_EQ(input.files.at(0).bytes, is_written ? 1u : 0u);
      EXPECT_EQ(std::filesystem::is_regular_file(input.files.at(0).path), is_written);
    }
    EXPECT_EQ(conversion.failed_runs.size(), 1u);
    std::filesystem::remove_all(folder.path(".logs.tbtrace-partial"));
    std::filesystem::remove_all(directory);
  }
}

TEST_F(BatchTest, TellsOfInputsThatNeedTooMuchMemoryAndConvertsTheOthers) {
  std::vector<std::string> paths;
  const std::vector<std::string> places = {"well", "open", "name", "write", "close"};
  for (std::size_t number = 0; number < 60; ++number) {
    paths.push_back(std::to_string(number) + " " + places[number % 7 % places.size()]);
  }
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    const Conversion conversion = run(paths, threads);
    ASSERT_EQ(conversion.inputs.size(), paths.size());
    std::set<std::string> expected;
    for (std::size_t number = 0; number < paths.size(); ++number) {
      const ConvertedInput& input = conversion.inputs[number];
      if (paths[number].ends_with("well")) {
        EXPECT_EQ(input.state, ConvertedInput::State::written) << paths[number];
        expected.insert("logs/run/" + paths[number]);
      } else {
        EXPECT_EQ(input.state, ConvertedInput::State::failed) << paths[number];
        EXPECT_EQ(input.status.code(), StatusCode::out_of_memory);
        EXPECT_EQ(input.status.message(), out_of_memory(threads).message());
      }
    }
    EXPECT_EQ(files(), expected) << "nothing is left half written";
    std::filesystem::remove_all(directory);
  }
}

TEST_F(BatchTest, ThrowsWhatACallbackThrowsWhenAllThreadsHaveEnded) {
  std::vector<std::string> paths;
  for (std::size_t number = 0; number < 40; ++number) paths.push_back(std::to_string(number));
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    std::size_t told = 0;
    options.on_input = [&](const ConvertedInput&) {
      if (++told == 5) throw std::runtime_error("enough");
    };
    EXPECT_THROW(run(paths, threads), std::runtime_error);
    EXPECT_LT(told, paths.size()) << "no more were begun";
    const std::set<std::string> written = files();
    EXPECT_GE(written.size(), 5u);
    for (const std::string& file : written) {
      EXPECT_TRUE(file.starts_with("logs/run/")) << "what was written is seen: " << file;
    }
    std::filesystem::remove_all(directory);
  }
}

}  // namespace
}  // namespace tbtrace::logdir
