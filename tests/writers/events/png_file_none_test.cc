// Of builds without libpng.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "writers/events/png.h"

namespace tbtrace::writers {
namespace {

TEST(PngFileWithoutLibpng, SaysWhatToInstall) {
  EXPECT_FALSE(has_png_files());
  const std::vector<std::uint8_t> samples(3);
  const auto file = png_file({.width = 1, .height = 1, .channels = 3, .samples = samples});
  EXPECT_EQ(file.status().code(), StatusCode::invalid_argument);
  EXPECT_THAT(file.status().message(), testing::HasSubstr("install libpng-dev"));
}

}  // namespace
}  // namespace tbtrace::writers
