// Whether a file's bytes are on the disk before the file appears. fdatasync() and sync_file_range()
// are doubles here, which take the place of the C library's in this program.
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/sink.h"

namespace {

/// What the double does; 0 or an errno.
std::function<int(off_t size)>& when_synchronized() {
  static std::function<int(off_t)> function;
  return function;
}

/// The starts and sizes of what the system was asked to write early.
std::vector<std::pair<off_t, off_t>>& started() {
  static std::vector<std::pair<off_t, off_t>> ranges;
  return ranges;
}

}  // namespace

extern "C" int sync_file_range(int /*descriptor*/, off_t from, off_t count, unsigned flags) {
  EXPECT_EQ(flags, unsigned{SYNC_FILE_RANGE_WRITE}) << "does not wait";
  started().emplace_back(from, count);
  errno = ENOSYS;
  return -1;
}

extern "C" int fdatasync(int descriptor) {
  struct stat info = {};
  ::fstat(descriptor, &info);
  errno = when_synchronized() ? when_synchronized()(info.st_size) : 0;
  return errno == 0 ? 0 : -1;
}

namespace tbtrace::io {
namespace {

using fixtures::ScratchFolder;

struct DurableSink : testing::Test {
  ~DurableSink() override {
    when_synchronized() = {};
    started().clear();
  }

  Status write(const FileOptions& options) const {
    Result<std::unique_ptr<ByteSink>> sink = create_file(path, options);
    if (!sink.ok()) return sink.status();
    if (Status written = (*sink)->write("text"); !written.ok()) return written;
    return (*sink)->close();
  }

  ScratchFolder folder;
  std::string path = folder.path("out");
};

TEST_F(DurableSink, AppearsOnceItsBytesAreOnTheDisk) {
  fixtures::write_whole_file(path, "old");
  int calls = 0;
  when_synchronized() = [&](off_t size) {
    ++calls;
    EXPECT_EQ(size, 4) << "all bytes are written by then";
    EXPECT_EQ(fixtures::read_whole_file(path), "old");
    return 0;
  };
  EXPECT_TRUE(write({.overwrite = true, .durable = true}).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(fixtures::read_whole_file(path), "text");
}

TEST_F(DurableSink, LeavesNothingIfTheDiskFails) {
  when_synchronized() = [](off_t) { return EIO; };
  const Status written = write({.durable = true});
  EXPECT_EQ(written.code(), StatusCode::unwritable_output);
  EXPECT_THAT(written.message(), testing::HasSubstr("Input/output error"));
  EXPECT_THAT(folder.names(), testing::IsEmpty());
}

TEST_F(DurableSink, TakesAFileSystemThatCannotTell) {
  when_synchronized() = [](off_t) { return EINVAL; };
  EXPECT_TRUE(write({.durable = true}).ok());
  EXPECT_EQ(fixtures::read_whole_file(path), "text");
}

TEST_F(DurableSink, OthersDoNotWaitForTheDisk) {
  when_synchronized() = [](off_t) { return EIO; };
  EXPECT_TRUE(write({}).ok());
}

TEST_F(DurableSink, HasTheSystemWriteALargeFileEarly) {
  const std::string megabyte(std::size_t{1} << 20, 'x');
  for (const bool durable : {true, false}) {
    const Result<std::unique_ptr<ByteSink>> sink =
        create_file(path, {.overwrite = true, .durable = durable});
    ASSERT_TRUE(sink.ok());
    for (int written = 0; written < 5; ++written) ASSERT_TRUE((*sink)->write(megabyte).ok());
    constexpr off_t kStep = off_t{2} << 20;
    const std::vector<std::pair<off_t, off_t>> halves = {{0, kStep}, {kStep, kStep}};
    EXPECT_EQ(started(), durable ? halves : decltype(halves)());
    EXPECT_TRUE((*sink)->close().ok());  // whether or not the system can do that
    started().clear();
  }
}

}  // namespace
}  // namespace tbtrace::io
