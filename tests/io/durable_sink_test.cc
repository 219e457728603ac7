// Whether a file's bytes are on the disk before the file appears. fdatasync() is a double here,
// which takes the place of the C library's in this program.
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

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

}  // namespace

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
  ~DurableSink() override { when_synchronized() = {}; }

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

}  // namespace
}  // namespace tbtrace::io
