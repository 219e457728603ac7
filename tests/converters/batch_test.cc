// Many inputs on several threads, some of which fail in ways that no Status tells.
#include "converters/batch.h"

#include <cstddef>
#include <filesystem>
#include <memory>
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

namespace tbtrace::converters {
namespace {

using fixtures::ScratchFolder;
using testing::HasSubstr;

/// Where an input runs out of memory.
enum class Place { nowhere, open, name, write, close };

class FakeInput final : public LogInput {
 public:
  FakeInput(std::string path, Place place) : path_(std::move(path)), place_(place) {}

  const Trace& trace() const override { return trace_; }
  const std::vector<Issue>& issues() const override { return trace_.issues(); }
  LogPlace name(LogFile& file) override {
    if (place_ == Place::name) throw std::bad_alloc();
    return {.folder = file.run, .name = path_};
  }
  LogPlace take_place() override { return {.folder = "run", .name = path_}; }
  Result<Changes> write(io::ByteSink& sink) override {
    if (Status written = sink.write(path_); !written.ok()) return written;
    if (place_ == Place::write) throw std::bad_alloc();
    if (place_ == Place::close) throw std::length_error("too long");
    if (Status closed = sink.close(); !closed.ok()) return closed;
    return Changes();
  }

 private:
  std::string path_;
  Place place_;
  Trace trace_ = fixtures::read(fixtures::trace_text({fixtures::op("a")}));
};

/// Inputs are called `3 write`: their number, and where they fail.
class FakeTarget final : public LogTarget {
 public:
  Result<std::unique_ptr<LogInput>> open(const std::string& path, int /*threads*/) override {
    Place place = Place::nowhere;
    if (path.ends_with("open")) throw std::bad_alloc();
    if (path.ends_with("name")) place = Place::name;
    if (path.ends_with("write")) place = Place::write;
    if (path.ends_with("close")) place = Place::close;
    return std::unique_ptr<LogInput>(std::make_unique<FakeInput>(path, place));
  }
  bool use_gzip() const override { return false; }
  std::vector<std::string> folders_left(const std::string& /*run*/) override { return {}; }
  Status finish(const std::string& /*folder*/) override { return {}; }
};

struct BatchTest : testing::Test {
  Conversion run(const std::vector<std::string>& paths, int threads) {
    std::vector<FoundInput> found;
    for (const std::string& path : paths) {
      found.push_back({.path = path, .run = "run", .problem = {}});
    }
    Result<std::unique_ptr<RunStaging>> staging = RunStaging::open(directory, {});
    EXPECT_TRUE(staging.ok());
    FakeTarget target;
    return Batch(found, directory, **staging, target, options).run(threads);
  }

  /// All that is below the folder of the test, except for folders.
  std::set<std::string> files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.root())) {
      if (!entry.is_directory()) files.insert(entry.path().lexically_relative(folder.root()));
    }
    return files;
  }

  ScratchFolder folder;
  std::string directory = folder.path("logs");
  ConvertOptions options;
};

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
}  // namespace tbtrace::converters
