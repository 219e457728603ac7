// Exports while memory runs out. Allocations of the threads that ask for it fail here, so these
// tests are a program of their own.
#include <cstddef>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/failing_new.h"
#include "recorder/process/export_thread.h"

namespace tbtrace::recorder {
namespace {

TEST(ExportThreadMemory, AJobThatCannotBeKeptIsDoneAtOnce) {
  int needed = 0;  // by add()
  for (bool enough = false; !enough; ++needed) {
    ASSERT_LT(needed, 100);
    int told = 0;
    int done = 0;
    ExportThread exports([&told](std::string_view) { ++told; });
    allocations_left = needed;
    exports.add([&done] {
      ++done;
      return Status();
    });
    enough = allocations_left > 0;
    allocations_left = kEndless;
    EXPECT_TRUE(exports.wait().ok()) << needed;
    EXPECT_EQ(done, 1) << needed;
    EXPECT_EQ(told, 0) << needed;
  }
  EXPECT_GT(needed, 1) << "nothing failed";
}

TEST(ExportThreadMemory, AJobWithoutMemoryHasFailed) {
  std::size_t heard = 0;
  bool went_on = false;
  ExportThread exports([&heard](std::string_view sentence) {
    if (sentence.find("not enough memory") != std::string_view::npos) ++heard;
  });
  for (int job = 0; job < 3; ++job) {
    exports.add([]() -> Status {
      allocations_left = 0;
      return {StatusCode::unwritable_output, std::string(1000, 'x')};
    });
  }
  exports.add([&went_on] {
    allocations_left = kEndless;
    went_on = true;
    return Status();
  });
  const Status failed = exports.wait();
  EXPECT_EQ(failed.code(), StatusCode::unwritable_output);
  EXPECT_THAT(failed.message(), testing::HasSubstr("record shorter windows"));
  EXPECT_EQ(heard, 3U);
  EXPECT_TRUE(went_on);
  EXPECT_TRUE(exports.wait().ok());
}

TEST(ExportThreadMemory, AListenerMayThrow) {
  ExportThread exports([](std::string_view) { throw std::bad_alloc(); });
  exports.add([] { return Status(StatusCode::unwritable_output, "the disk is full"); });
  EXPECT_EQ(exports.wait().message(), "the disk is full");
}

}  // namespace
}  // namespace tbtrace::recorder
