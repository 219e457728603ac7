#include "writers/pictures/cairo_library.h"

#include <array>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "writers/pictures/canvas.h"

namespace tbtrace::writers {
namespace {

TEST(CairoLibrary, IsOpenedByItsFileName) {
  const Result<CairoLibrary> cairo = open_cairo("libcairo.so.2");
  ASSERT_TRUE(cairo.ok()) << cairo.status().message();
  EXPECT_STREQ(cairo->status_to_string(CAIRO_STATUS_SUCCESS), "no error has occurred");
}

TEST(CairoLibrary, MissingLibrarySaysWhatToInstall) {
  const Result<CairoLibrary> none = open_cairo("libtbtrace_nothing.so.2");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(none.status().message(),
            "libtbtrace_nothing.so.2 is not on this machine; install cairo (on Debian `apt-get "
            "install libcairo2`)");
}

TEST(CairoLibrary, LibraryWithoutAFunctionCountsAsMissing) {
  const Result<CairoLibrary> other = open_cairo("libc.so.6");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(other.status().message(),
              testing::HasSubstr("libc.so.6 on this machine has no function cairo_"));
  EXPECT_THAT(other.status().message(), testing::HasSubstr("install cairo"));
}

TEST(CairoLibrary, AllThreadsGetTheSame) {
  std::array<const CairoLibrary*, 4> opened = {};
  std::vector<std::thread> threads;
  for (const CairoLibrary*& each : opened) {
    threads.emplace_back([&each] { each = cairo_library().value(); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(opened, testing::Each(*cairo_library()));
  EXPECT_TRUE(knows_cairo());
  EXPECT_TRUE(can_draw().ok()) << can_draw().message();
}

}  // namespace
}  // namespace tbtrace::writers
