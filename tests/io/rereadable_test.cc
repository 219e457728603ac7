#include "io/rereadable.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/drained.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::HasSubstr;
using testing::IsEmpty;

std::string numbers(std::size_t count) {
  std::string text;
  for (std::size_t number = 0; number < count; ++number) text += std::to_string(number) + ",";
  return text;
}

/// Standard input and TMPDIR are something else as long as one of these lives.
class Surroundings {
 public:
  Surroundings(int standard_input, const std::string& temporary_folder)
      : saved_(::dup(STDIN_FILENO)) {
    if (standard_input >= 0) ::dup2(standard_input, STDIN_FILENO);
    const char* folder = ::getenv("TMPDIR");
    if (folder != nullptr) folder_ = folder;
    ::setenv("TMPDIR", temporary_folder.c_str(), 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
    if (folder_.empty()) {
      ::unsetenv("TMPDIR");
    } else {
      ::setenv("TMPDIR", folder_.c_str(), 1);
    }
  }

 private:
  int saved_;
  std::string folder_;
};

/// A pipe that gives `text`, which must fit into one.
class Pipe {
 public:
  explicit Pipe(std::string_view text) {
    EXPECT_EQ(::pipe(ends_.data()), 0);
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { ::close(ends_[0]); }

  int end() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_ = {};
};

std::unique_ptr<Rereadable> opened(const std::string& path) {
  Result<std::unique_ptr<Rereadable>> input = Rereadable::open(path);
  EXPECT_TRUE(input.ok()) << input.status().message();
  return input.ok() ? *std::move(input) : nullptr;
}

Status failure(const std::string& path) {
  const Result<std::unique_ptr<Rereadable>> input = Rereadable::open(path);
  return input.ok() ? Status() : input.status();
}

TEST(Rereadable, GivesAFileAsOftenAsOneLikes) {
  const ScratchFolder folder;
  const std::string text = numbers(50'000);
  write_whole_file(folder.path("in"), text);
  const auto input = opened(folder.path("in"));
  ASSERT_NE(input, nullptr);
  for (int time = 0; time < 3; ++time) {
    const auto source = input->source();
    EXPECT_EQ(source->total(), text.size());
    const Drained drained = drain(*source, 1000);
    EXPECT_TRUE(drained.end.ok());
    EXPECT_EQ(drained.text, text);
    EXPECT_EQ(source->position(), text.size());
  }
}

TEST(Rereadable, TakesAnEmptyFile) {
  const ScratchFolder folder;
  write_whole_file(folder.path("in"), "");
  const auto input = opened(folder.path("in"));
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(drain(*input->source()).text, "");
}

TEST(Rereadable, GivesTheSameFileAlthoughItsNameIsTakenByAnother) {
  const ScratchFolder folder;
  write_whole_file(folder.path("in"), "old");
  const auto input = opened(folder.path("in"));
  ASSERT_NE(input, nullptr);
  write_whole_file(folder.path("new"), "new");
  ASSERT_EQ(::rename(folder.path("new").c_str(), folder.path("in").c_str()), 0);
  EXPECT_EQ(drain(*input->source()).text, "old");
}

TEST(Rereadable, MayBeReadByTwoAtOnce) {
  const ScratchFolder folder;
  const std::string text = numbers(20'000);
  write_whole_file(folder.path("in"), text);
  const auto input = opened(folder.path("in"));
  ASSERT_NE(input, nullptr);
  const auto first = input->source();
  const auto second = input->source();
  std::array<char, 10> start;
  ASSERT_TRUE(first->read(start).ok());
  EXPECT_EQ(drain(*second).text, text) << "they do not share a place";
  EXPECT_EQ(drain(*first).text, text.substr(start.size()));
  std::array<std::string, 4> texts;
  {
    std::vector<std::jthread> threads;
    for (std::string& copy : texts) {
      threads.emplace_back([&input, &copy] { copy = drain(*input->source(), 333).text; });
    }
  }
  for (const std::string& copy : texts) EXPECT_EQ(copy, text);
}

TEST(Rereadable, KeepsAPipeAndLeavesNoFile) {
  const ScratchFolder folder;
  const std::string text = numbers(400'000);  // more than the copy's buffer
  const std::string fifo = folder.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const ScratchFolder kept;
  const Surroundings surroundings(-1, kept.root().string());
  std::jthread writer([&] { write_whole_file(fifo, text); });
  const auto input = opened(fifo);
  ASSERT_NE(input, nullptr);
  EXPECT_THAT(kept.names(), IsEmpty()) << "what has no name cannot stay behind";
  for (int time = 0; time < 2; ++time) {
    const auto source = input->source();
    EXPECT_EQ(source->total(), text.size());
    EXPECT_TRUE(drain(*source, 70'000).text == text);
  }
}

TEST(Rereadable, TakesStandardInput) {
  const ScratchFolder kept;
  const Pipe pipe("from elsewhere");
  const Surroundings surroundings(pipe.end(), kept.root().string());
  const auto input = opened("-");
  ASSERT_NE(input, nullptr);
  EXPECT_EQ(drain(*input->source()).text, "from elsewhere");
  EXPECT_EQ(drain(*input->source()).text, "from elsewhere");
}

TEST(Rereadable, SaysWhatCannotBeOpened) {
  const ScratchFolder folder;
  const Status missing = failure(folder.path("missing"));
  EXPECT_EQ(missing.code(), StatusCode::unreadable_input);
  EXPECT_THAT(missing.message(), HasSubstr("No such file"));
  const Status directory = failure(folder.root().string());
  EXPECT_EQ(directory.code(), StatusCode::unreadable_input);
  EXPECT_THAT(directory.message(), HasSubstr("directory"));
}

TEST(Rereadable, SaysThatThereIsNoRoomForACopy) {
  const ScratchFolder folder;
  const Pipe pipe("text");
  const Surroundings surroundings(pipe.end(), folder.path("missing"));
  const Status status = failure("-");
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
  EXPECT_THAT(status.message(), HasSubstr("TMPDIR"));
}

TEST(Rereadable, EndsWhereAFileWasCutMeanwhile) {
  const ScratchFolder folder;
  write_whole_file(folder.path("in"), numbers(1000));
  const auto input = opened(folder.path("in"));
  ASSERT_NE(input, nullptr);
  ASSERT_EQ(::truncate(folder.path("in").c_str(), 10), 0);
  EXPECT_EQ(drain(*input->source()).text.size(), 10U);
}

}  // namespace
}  // namespace tbtrace::io
