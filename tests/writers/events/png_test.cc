#include "writers/events/png.h"

#include <string>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

TEST(PngSize, IsNoneOfWhatIsNoPng) {
  using std::string_literals::operator""s;
  const std::string file = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2\0\0\0\3"s;
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_FALSE(png_size(file.substr(0, size)).has_value()) << size;
  }
  const auto found = png_size(file);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->width, 258);
  EXPECT_EQ(found->height, 3);
  EXPECT_FALSE(png_size("GIF89a and more than twenty-four bytes").has_value());
  std::string no_width = file;
  no_width.replace(16, 4, 4, '\0');
  EXPECT_FALSE(png_size(no_width).has_value());
  std::string negative = file;
  negative[16] = '\xff';
  EXPECT_FALSE(png_size(negative).has_value());
}

}  // namespace
}  // namespace tbtrace::writers
