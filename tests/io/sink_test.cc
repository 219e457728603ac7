#include "io/sink.h"

#include <array>
#include <filesystem>
#include <memory>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/file_size_limit.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace::io {
namespace {

using fixtures::FileSizeLimit;
using fixtures::read_whole_file;
using fixtures::ScratchFolder;
using fixtures::write_whole_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::unique_ptr<ByteSink> created(const std::string& path, bool overwrite = false) {
  Result<std::unique_ptr<ByteSink>> sink = create_file(path, {.overwrite = overwrite});
  EXPECT_TRUE(sink.ok()) << sink.status().message();
  return *std::move(sink);
}

mode_t permissions(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

/// Standard output is something else as long as one of these lives.
class StandardOutputTo {
 public:
  explicit StandardOutputTo(int descriptor) : saved_(::dup(STDOUT_FILENO)) {
    ::dup2(descriptor, STDOUT_FILENO);
  }
  StandardOutputTo(const StandardOutputTo&) = delete;
  StandardOutputTo& operator=(const StandardOutputTo&) = delete;
  ~StandardOutputTo() {
    ::dup2(saved_, STDOUT_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

TEST(DirectSink, WaitsForRoomInAPipeThatDoesNotBlock) {
  int ends[2] = {};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const std::string text(std::size_t{1} << 20, 'x');  // a pipe holds 64 KiB
  std::string got;
  std::jthread reader([&] {
    ::fcntl(ends[0], F_SETFL, 0);
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
      got.append(buffer, static_cast<std::size_t>(size));
    }
  });
  {
    const StandardOutputTo pipe(ends[1]);
    const Status written = standard_output()->write(text);
    EXPECT_TRUE(written.ok()) << written.message();
  }
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(got, text);
}

TEST(FileSink, AppearsWithAllItsBytesWhenClosed) {
  const ScratchFolder folder;
  const std::unique_ptr<ByteSink> sink = created(folder.path("out"));
  std::string expected;
  for (int part = 0; part < 1000; ++part) {
    const std::string text = "part " + std::to_string(part) + std::string(part, '.');
    expected += text;
    ASSERT_TRUE(sink->write(text).ok());
  }
  ASSERT_TRUE(sink->write("").ok());
  EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
  ASSERT_TRUE(sink->close().ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), expected);
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(FileSink, LeavesNothingBehindWhenNotClosed) {
  const ScratchFolder folder;
  {
    const std::unique_ptr<ByteSink> sink = created(folder.path("out"));
    ASSERT_TRUE(sink->write("half of it").ok());
    EXPECT_EQ(folder.names().size(), 1U);  // under a name of its own
  }
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(FileSink, LeavesTheOldFileWhenNotClosed) {
  const ScratchFolder folder;
  write_whole_file(folder.path("out"), "old");
  ASSERT_TRUE(created(folder.path("out"), true)->write("new").ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), "old");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(FileSink, RefusesAnExistingFile) {
  const ScratchFolder folder;
  write_whole_file(folder.path("out"), "old");
  const Result<std::unique_ptr<ByteSink>> sink = create_file(folder.path("out"), {});
  ASSERT_FALSE(sink.ok());
  EXPECT_EQ(sink.status().code(), StatusCode::output_exists);
  EXPECT_THAT(sink.status().message(), HasSubstr("exists already"));
  EXPECT_EQ(read_whole_file(folder.path("out")), "old");
}

TEST(FileSink, RefusesAFileThatAppearedMeanwhile) {
  const ScratchFolder folder;
  {
    const std::unique_ptr<ByteSink> sink = created(folder.path("out"));
    ASSERT_TRUE(sink->write("ours").ok());
    write_whole_file(folder.path("out"), "theirs");
    const Status closed = sink->close();
    EXPECT_EQ(closed.code(), StatusCode::output_exists);
    EXPECT_THAT(closed.message(), HasSubstr("exists already"));
  }
  EXPECT_EQ(read_whole_file(folder.path("out")), "theirs");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(FileSink, SaysBeforehandWhatItWouldRefuse) {
  const ScratchFolder folder;
  EXPECT_TRUE(check_place(folder.path("new"), false).ok());
  write_whole_file(folder.path("old"), "x");
  EXPECT_EQ(check_place(folder.path("old"), false).message(),
            create_file(folder.path("old"), {}).status().message());
  EXPECT_FALSE(check_place(folder.path("old"), false).ok());
  EXPECT_TRUE(check_place(folder.path("old"), true).ok());
  EXPECT_FALSE(check_place(folder.path("."), true).ok());
  EXPECT_TRUE(check_place("/dev/null", false).ok());
  for (const char* const path : {"none/new", "old/new"}) {
    EXPECT_EQ(check_place(folder.path(path), true).message(),
              create_file(folder.path(path), {}).status().message());
    EXPECT_FALSE(check_place(folder.path(path), true).ok()) << path;
  }
}

TEST(FileSink, ReplacesAnExistingFileWhenAsked) {
  const ScratchFolder folder;
  write_whole_file(folder.path("out"), "a long old text");
  const std::unique_ptr<ByteSink> sink = created(folder.path("out"), true);
  ASSERT_TRUE(sink->write("new").ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), "a long old text");
  ASSERT_TRUE(sink->close().ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), "new");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(FileSink, TwoSinksOfOneFileDoNotMix) {
  const ScratchFolder folder;
  const std::unique_ptr<ByteSink> first = created(folder.path("out"), true);
  const std::unique_ptr<ByteSink> second = created(folder.path("out"), true);
  ASSERT_TRUE(first->write("first").ok());
  ASSERT_TRUE(second->write("second").ok());
  ASSERT_TRUE(first->close().ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), "first");
  ASSERT_TRUE(second->close().ok());
  EXPECT_EQ(read_whole_file(folder.path("out")), "second");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(FileSink, SaysWhyAFileCannotBeMade) {
  const ScratchFolder folder;
  write_whole_file(folder.path("file"), "");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {folder.path("missing/out"), "No such file or directory"},
      {folder.path("file/out"), "Not a directory"},
      {folder.path(std::string(300, 'x')), "File name too long"},
      {folder.root().string(), "is a directory"}};
  for (const auto& [path, cause] : cases) {
    const Result<std::unique_ptr<ByteSink>> sink = create_file(path, {.overwrite = true});
    ASSERT_FALSE(sink.ok()) << path;
    EXPECT_EQ(sink.status().code(), StatusCode::unwritable_output);
    EXPECT_THAT(sink.status().message(), HasSubstr(cause));
  }
  EXPECT_THAT(folder.names(), ElementsAre("file"));
}

TEST(FileSink, FailsWhenItsFolderVanishes) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  const std::unique_ptr<ByteSink> sink = created(folder.path("sub/out"));
  std::filesystem::remove_all(folder.path("sub"));
  EXPECT_EQ(sink->close().code(), StatusCode::unwritable_output);
}

TEST(FileSink, PermissionsFollowTheUmask) {
  const ScratchFolder folder;
  for (const mode_t mask : {022, 077, 002}) {
    const mode_t before = ::umask(mask);
    const std::string path = folder.path("out" + std::to_string(mask));
    const std::unique_ptr<ByteSink> sink = created(path);
    EXPECT_TRUE(sink->close().ok());
    ::umask(before);
    EXPECT_EQ(permissions(path), 0666U & ~mask);
  }
}

TEST(FileSink, AReplacedFileKeepsItsPermissions) {
  const ScratchFolder folder;
  for (const mode_t mode : {0600, 0664}) {
    write_whole_file(folder.path("out"), "old");
    ASSERT_EQ(::chmod(folder.path("out").c_str(), mode), 0);
    const std::unique_ptr<ByteSink> sink = created(folder.path("out"), true);
    for (const std::string& name : folder.names()) {
      EXPECT_EQ(permissions(folder.path(name)), mode) << "also while it is written: " << name;
    }
    EXPECT_TRUE(sink->close().ok());
    EXPECT_EQ(permissions(folder.path("out")), mode);
  }
}

TEST(FileSink, ALinkStaysAndItsTargetIsReplaced) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  write_whole_file(folder.path("sub/target"), "old");
  std::filesystem::create_symlink("sub/target", folder.path("link"));
  EXPECT_FALSE(create_file(folder.path("link"), {}).ok());
  const std::unique_ptr<ByteSink> sink = created(folder.path("link"), true);
  ASSERT_TRUE(sink->write("new").ok());
  EXPECT_EQ(read_whole_file(folder.path("sub/target")), "old");
  ASSERT_TRUE(sink->close().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(read_whole_file(folder.path("sub/target")), "new");
  EXPECT_THAT(folder.names(), ElementsAre("link", "sub"));
}

TEST(FileSink, ALinkedFolderIsLikeAnyOther) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.path("sub"));
  std::filesystem::create_directory_symlink("sub", folder.path("link"));
  ASSERT_TRUE(created(folder.path("link/out"))->close().ok());
  EXPECT_TRUE(std::filesystem::exists(folder.path("sub/out")));
}

TEST(FileSink, ADanglingLinkIsAnExistingName) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("nowhere", folder.path("link"));
  EXPECT_FALSE(created(folder.path("link"))->close().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_THAT(folder.names(), ElementsAre("link"));
}

TEST(FileSink, AFullDiskIsAFailureAndNoHalfFileAppears) {
  const ScratchFolder folder;
  write_whole_file(folder.path("out"), "old");
  {
    const FileSizeLimit limit(1000);
    const std::unique_ptr<ByteSink> sink = created(folder.path("out"), true);
    ASSERT_TRUE(sink->write(std::string(600, 'x')).ok());
    const Status written = sink->write(std::string(600, 'y'));
    EXPECT_EQ(written.code(), StatusCode::unwritable_output);
    EXPECT_THAT(written.message(), HasSubstr("cannot write"));
    EXPECT_EQ(sink->close().code(), StatusCode::unwritable_output);
  }
  EXPECT_EQ(read_whole_file(folder.path("out")), "old");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST(DirectSink, WritesToDevices) {
  const std::unique_ptr<ByteSink> sink = created("/dev/null");
  EXPECT_TRUE(sink->write("gone").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(DirectSink, AFullDeviceIsAFailure) {
  const std::unique_ptr<ByteSink> sink = created("/dev/full");
  const Status written = sink->write("text");
  EXPECT_EQ(written.code(), StatusCode::unwritable_output);
  EXPECT_THAT(written.message(), HasSubstr("No space left"));
}

TEST(DirectSink, WritesThroughALinkToADevice) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("/dev/null", folder.path("link"));
  const std::unique_ptr<ByteSink> sink = created(folder.path("link"));
  EXPECT_TRUE(sink->write("gone").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
}

TEST(DirectSink, DevStdoutIsStandardOutput) {
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  {
    const StandardOutputTo redirected(ends[1]);
    const std::unique_ptr<ByteSink> sink = created("/dev/stdout");
    EXPECT_TRUE(sink->write("text").ok());
    EXPECT_TRUE(sink->close().ok());
  }
  std::array<char, 10> buffer;
  EXPECT_EQ(::read(ends[0], buffer.data(), buffer.size()), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(StandardOutput, IsWrittenAndStaysOpen) {
  const ScratchFolder folder;
  const int descriptor = ::open(folder.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
  {
    const StandardOutputTo redirected(descriptor);
    const std::unique_ptr<ByteSink> sink = standard_output();
    EXPECT_TRUE(sink->write("some ").ok());
    EXPECT_TRUE(sink->write("text").ok());
    EXPECT_TRUE(sink->close().ok());
    EXPECT_NE(::fcntl(STDOUT_FILENO, F_GETFD), -1);
  }
  ::close(descriptor);
  EXPECT_EQ(read_whole_file(folder.path("out")), "some text");
}

TEST(StandardOutput, AClosedPipeIsAFailure) {
  const auto handler = std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends;
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  {
    const StandardOutputTo redirected(ends[1]);
    const Status written = standard_output()->write("text");
    EXPECT_EQ(written.code(), StatusCode::unwritable_output);
    EXPECT_THAT(written.message(), HasSubstr("Broken pipe"));
  }
  ::close(ends[1]);
  static_cast<void>(std::signal(SIGPIPE, handler));
}

TEST(MemorySink, AppendsToItsString) {
  std::string text = "before ";
  const std::unique_ptr<ByteSink> sink = memory_sink(text);
  EXPECT_TRUE(sink->write("and ").ok());
  EXPECT_TRUE(sink->write("after").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_EQ(text, "before and after");
}

TEST(StreamSink, WritesUntilTheStreamFails) {
  std::ostringstream stream;
  const std::unique_ptr<ByteSink> sink = stream_sink(stream);
  EXPECT_TRUE(sink->write("ab").ok());
  EXPECT_TRUE(sink->close().ok());
  EXPECT_EQ(stream.str(), "ab");
  stream.setstate(std::ios::badbit);
  EXPECT_EQ(sink->write("c").code(), StatusCode::unwritable_output);
}

/// Takes nothing.
class FullBuffer final : public std::streambuf {};

TEST(StreamSink, AStreamThatThrowsIsAFailure) {
  FullBuffer buffer;
  std::ostream stream(&buffer);
  stream.exceptions(std::ios::badbit | std::ios::failbit);
  const std::unique_ptr<ByteSink> sink = stream_sink(stream);
  EXPECT_EQ(sink->write("a").code(), StatusCode::unwritable_output);
  EXPECT_EQ(sink->write("b").code(), StatusCode::unwritable_output);
}

}  // namespace
}  // namespace tbtrace::io
