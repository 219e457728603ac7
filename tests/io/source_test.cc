#include "io/source.h"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "fixtures/drained.h"
#include "fixtures/failing_source.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

using fixtures::drain;
using fixtures::Drained;
using fixtures::FailingSource;
using fixtures::in_pieces;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::HasSubstr;

std::string numbers(std::size_t count) {
  std::string text;
  for (std::size_t number = 0; number < count; ++number) text += std::to_string(number) + ",";
  return text;
}

/// Standard input is something else as long as one of these lives.
class StandardInputFrom {
 public:
  explicit StandardInputFrom(int descriptor) : saved_(::dup(STDIN_FILENO)) {
    ::dup2(descriptor, STDIN_FILENO);
  }
  StandardInputFrom(const StandardInputFrom&) = delete;
  StandardInputFrom& operator=(const StandardInputFrom&) = delete;
  ~StandardInputFrom() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(MemorySource, GivesItsBytesInAnyPortions) {
  const std::string text = numbers(100);
  for (const std::size_t size : {1, 2, 3, 7, 100, 4096}) {
    const std::unique_ptr<ByteSource> source = memory_source(text);
    EXPECT_EQ(source->total(), text.size());
    const Drained drained = drain(*source, size);
    EXPECT_TRUE(drained.end.ok());
    EXPECT_EQ(drained.text, text);
    EXPECT_EQ(source->position(), text.size());
  }
}

TEST(MemorySource, EndsAtOnceWhenEmpty) {
  const std::unique_ptr<ByteSource> source = memory_source({});
  std::array<char, 4> buffer;
  const Result<std::size_t> got = source->read(buffer);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, 0U);
}

TEST(FileSource, ReadsAFile) {
  const ScratchFolder folder;
  const std::string text = numbers(50000);
  write_whole_file(folder.path("in"), text);
  const Result<std::unique_ptr<ByteSource>> source = open_file(folder.path("in"));
  ASSERT_TRUE(source.ok()) << source.status().message();
  EXPECT_EQ((*source)->total(), text.size());
  EXPECT_EQ((*source)->position(), 0U);
  EXPECT_EQ(drain(**source, 1000).text, text);
  EXPECT_EQ((*source)->position(), text.size());
}

TEST(FileSource, SaysWhyAFileCannotBeOpened) {
  const ScratchFolder folder;
  const Result<std::unique_ptr<ByteSource>> missing = open_file(folder.path("missing"));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), StatusCode::unreadable_input);
  EXPECT_THAT(missing.status().message(), HasSubstr("No such file"));

  const Result<std::unique_ptr<ByteSource>> directory = open_file(folder.root().string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.status().code(), StatusCode::unreadable_input);
  EXPECT_THAT(directory.status().message(), HasSubstr("is a directory"));
}

/// Everything is permitted to root, so the process is somebody else while this lives.
class NotRoot {
 public:
  NotRoot() : user_(::geteuid()) {
    constexpr uid_t kNobody = 65534;
    EXPECT_EQ(::seteuid(user_ == 0 ? kNobody : user_), 0);
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() { EXPECT_EQ(::seteuid(user_), 0); }

 private:
  uid_t user_;
};

TEST(FileSource, SaysSoWhenPermissionIsMissing) {
  const ScratchFolder folder;
  write_whole_file(folder.path("in"), "x");
  std::filesystem::permissions(folder.path("in"), std::filesystem::perms::none);
  const NotRoot somebody;
  const Result<std::unique_ptr<ByteSource>> source = open_file(folder.path("in"));
  ASSERT_FALSE(source.ok());
  EXPECT_THAT(source.status().message(), HasSubstr("Permission denied"));
}

TEST(FileSource, DevicesHaveNoSize) {
  const Result<std::unique_ptr<ByteSource>> source = open_file("/dev/null");
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->total(), 0U);
  EXPECT_EQ(drain(**source).text, "");
}

TEST(StandardInput, ReadsAPipeWhoseWriterIsSlow) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  const std::string text = numbers(3000);
  std::jthread writer([&] {
    for (std::size_t at = 0; at < text.size(); at += 777) {
      const std::string_view part = std::string_view(text).substr(at, 777);
      EXPECT_EQ(::write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
      std::this_thread::yield();
    }
    ::close(ends[1]);
  });
  const StandardInputFrom redirected(ends[0]);
  const std::unique_ptr<ByteSource> source = standard_input();
  EXPECT_EQ(source->total(), 0U);
  const Drained drained = drain(*source);
  EXPECT_TRUE(drained.end.ok());
  EXPECT_EQ(drained.text, text);
  EXPECT_EQ(source->position(), text.size());
  ::close(ends[0]);
}

TEST(StandardInput, FailsWhereItCannotBeRead) {
  const int descriptor = ::open("/dev/null", O_WRONLY);
  const StandardInputFrom redirected(descriptor);
  const Drained drained = drain(*standard_input());
  EXPECT_EQ(drained.end.code(), StatusCode::unreadable_input);
  EXPECT_THAT(drained.end.message(), HasSubstr("cannot read"));
  ::close(descriptor);
}

TEST(StandardInput, StaysOpen) {
  const int descriptor = ::open("/dev/null", O_RDONLY);
  const StandardInputFrom redirected(descriptor);
  standard_input().reset();
  EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1);
  ::close(descriptor);
}

TEST(Peek, GivesTheStartAgain) {
  const std::string text = numbers(100);
  for (const std::size_t piece : {1, 3, 1000}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{6}, text.size(),
                                   text.size() + 1, std::size_t{5000}}) {
      std::unique_ptr<ByteSource> source = in_pieces(text, piece);
      const Result<std::string> start = peek(source, size);
      ASSERT_TRUE(start.ok());
      EXPECT_EQ(*start, text.substr(0, size));
      const Drained drained = drain(*source, 13);
      EXPECT_TRUE(drained.end.ok());
      EXPECT_EQ(drained.text, text);
    }
  }
}

TEST(Peek, MayBeAskedTwice) {
  std::unique_ptr<ByteSource> source = in_pieces("abcdef", 2);
  EXPECT_EQ(*peek(source, 3), "abc");
  EXPECT_EQ(*peek(source, 5), "abcde");
  EXPECT_EQ(*peek(source, 1), "a");
  EXPECT_EQ(drain(*source, 1).text, "abcdef");
}

TEST(Peek, CountsWhatWasTakenFromTheFile) {
  std::unique_ptr<ByteSource> source = in_pieces("abcdef", 4);
  ASSERT_TRUE(peek(source, 2).ok());
  EXPECT_EQ(source->position(), 2U);
  EXPECT_EQ(source->total(), 6U);
}

TEST(Peek, AFailureComesAfterWhatWasThere) {
  for (const std::size_t good : {1, 3, 5}) {
    std::unique_ptr<ByteSource> source = std::make_unique<FailingSource>("abcdef", good, 2);
    const Result<std::string> start = peek(source, 6);
    ASSERT_TRUE(start.ok());
    EXPECT_EQ(*start, std::string("abcdef").substr(0, good));
    const Drained drained = drain(*source);
    EXPECT_EQ(drained.text, *start);
    EXPECT_EQ(drained.end.message(), "the cable was pulled");
  }
}

TEST(Peek, FailsWhereNothingCanBeRead) {
  std::unique_ptr<ByteSource> source = std::make_unique<FailingSource>("abcdef", 0);
  const Result<std::string> start = peek(source, 6);
  ASSERT_FALSE(start.ok());
  EXPECT_EQ(start.status().message(), "the cable was pulled");
}

TEST(Prefixed, GivesBothParts) {
  const std::unique_ptr<ByteSource> source = prefixed("abc", in_pieces("defgh", 2));
  EXPECT_EQ(drain(*source, 2).text, "abcdefgh");
  EXPECT_EQ(drain(*prefixed("", memory_source("x"))).text, "x");
  EXPECT_EQ(drain(*prefixed("x", memory_source(""))).text, "x");
}

}  // namespace
}  // namespace tbtrace::io
