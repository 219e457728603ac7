#include "writers/events/png.h"

#include <vector>

#include <gtest/gtest.h>
#include <png.h>

namespace tbtrace::writers {
namespace {

std::vector<std::uint8_t> decode(const std::string& file, png_uint_32 format) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, file.data(), file.size()));
  EXPECT_EQ(image.format, format);
  std::vector<std::uint8_t> samples(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, samples.data(), 0, nullptr));
  return samples;
}

TEST(PngFile, ComesBackInEveryFormat) {
  const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  for (int channels = 1; channels <= 4; ++channels) {
    std::vector<std::uint8_t> samples;
    for (int sample = 0; sample < 5 * 3 * channels; ++sample) {
      samples.push_back(static_cast<std::uint8_t>(sample * 17));
    }
    const auto file = png_file({.width = 5, .height = 3, .channels = channels, .samples = samples});
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_EQ(decode(*file, formats[channels - 1]), samples);
    const auto size = png_size(*file);
    ASSERT_TRUE(size.has_value());
    EXPECT_EQ(size->width, 5);
    EXPECT_EQ(size->height, 3);
  }
}

TEST(PngFile, RefusesSizesThatDoNotFit) {
  const std::vector<std::uint8_t> samples(12);
  const auto is_refused = [&](int width, int height, int channels) {
    return !png_file({.width = width, .height = height, .channels = channels, .samples = samples})
                .ok();
  };
  EXPECT_FALSE(is_refused(2, 2, 3));
  EXPECT_TRUE(is_refused(2, 3, 3));
  EXPECT_TRUE(is_refused(2, 1, 3));
  EXPECT_TRUE(is_refused(5, 2, 1));
  EXPECT_TRUE(is_refused(0, 0, 3));
  EXPECT_TRUE(is_refused(-2, -2, 3));
  EXPECT_TRUE(is_refused(12, 1, 0));
  EXPECT_TRUE(is_refused(1, 1, 12));
  EXPECT_TRUE(is_refused(0x7fffffff, 0x7fffffff, 4));
}

TEST(PngFile, IsThereIfTheBuildSaysSo) { EXPECT_TRUE(has_png_files()); }

}  // namespace
}  // namespace tbtrace::writers
