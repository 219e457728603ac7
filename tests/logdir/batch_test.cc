// Many inputs on several threads, some of which fail in ways that no Status tells.
#include "logdir/batch.h"

#include <atomic>
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

class FakeInput final : public LogInput, public LogOutput {
 public:
  /// `directory` is the log directory.
  FakeInput(std::string path, Place place, std::string directory)
      : path_(std::move(path)), place_(place), directory_(std::move(directory)) {}

  const Trace& trace() const override { return trace_; }
  const std::vector<Issue>& issues() const override { return trace_.issues(); }
  std::vector<LogOutput*> outputs() override { return {this}; }
  LogPlace name(LogFile& file) override {
    if (place_ == Place::name) throw std::bad_alloc();
    return taken_ = {.folder = file.run, .name = path_, .twins = {path_ + ".twin"}};
  }
  Result<LogPlace> take_place() override { return taken_; }
  Result<Changes> write(io::ByteSink& sink) override {
    twin_was_there_ = std::filesystem::exists(twin());
    if (Status written = sink.write(path_); !written.ok()) return written;
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

  std::string path_;
  Place place_;
  std::string directory_;
  LogPlace taken_;
  bool twin_was_there_ = false;
  Trace trace_ = fixtures::read(fixtures::trace_text({fixtures::op("a")}));
};

/// Inputs are called `3 write`: their number, and where they fail.
class FakeTarget final : public LogTarget {
 public:
  explicit FakeTarget(std::string directory) : directory_(std::move(directory)) {}
  Result<std::unique_ptr<LogInput>> open(const std::string& path, int threads) override {
    reading_threads = threads;
    Place place = Place::nowhere;
    if (path.ends_with("open")) throw std::bad_alloc();
    if (path.ends_with("name")) place = Place::name;
    if (path.ends_with("write")) place = Place::write;
    if (path.ends_with("close")) place = Place::close;
    return std::unique_ptr<LogInput>(std::make_unique<FakeInput>(path, place, directory_));
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

  /// Where two threads that finish folders wait for each other.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    int there = 0;
    bool all_met = false;
  };

  std::string failing;  // a folder
  Meeting* meeting = nullptr;
  std::atomic<int> reading_threads = 0;  // of the last open()

 private:
  std::string directory_;
};

struct BatchTest : testing::Test {
  Conversion run(const std::vector<std::string>& paths, int threads,
                 const std::vector<std::string>& runs = {"run"}) {
    std::vector<inputs::FoundInput> found;
    for (const std::string& path : paths) {
      found.push_back({.path = path, .run = runs[found.size() % runs.size()], .problem = {}});
    }
    Result<std::unique_ptr<RunStaging>> staging =
        RunStaging::open(directory, {.overwrite = options.log.overwrite});
    EXPECT_TRUE(staging.ok());
    return Batch(found, directory, **staging, target, options).run(threads);
  }

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
  std::string directory = folder.path("logs");
  FakeTarget target{directory};
  ConvertOptions options;
};

TEST_F(BatchTest, ReportsInputsInTheirOrderOnceTheirFilesAreVisible) {
  std::vector<std::string> paths;
  for (int number = 0; number < 40; ++number) {
    paths.push_back(std::to_string(number) + (number % 5 == 3 ? " write" : " well"));
  }
  target.failing = "b";
  for (const int threads : {1, 2, 8}) {
    SCOPED_TRACE(threads);
    std::vector<std::string> told;
    options.on_input = [&](const ConvertedInput& input) {
      told.push_back(input.input);
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
  FakeTarget::Meeting meeting;
  target.meeting = &meeting;
  run({"1", "2"}, 2, {"a", "b"});
  EXPECT_TRUE(meeting.all_met) << "one folder was finished after the other";
}

TEST_F(BatchTest, SharesThreadsAmongFewInputs) {
  run({"1", "2"}, 8);
  EXPECT_EQ(target.reading_threads, 4);
  run({"3", "4", "5", "6"}, 2);
  EXPECT_EQ(target.reading_threads, 1);
}

TEST_F(BatchTest, OnlyTheInputWhoseFileCannotBeMovedFails) {
  options.log.overwrite = true;
  for (const int threads : {1, 2}) {
    std::filesystem::create_directories(directory + "/run/2/in the way");
    const Conversion conversion = run({"1", "2", "3"}, threads);
    for (const ConvertedInput& input : conversion.inputs) {
      SCOPED_TRACE(input.input);
      const bool is_written = input.input != "2";
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
