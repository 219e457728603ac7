// The vectors of RFC 4648, section 10.
#include "wire/base64.h"

#include <string>

#include <gtest/gtest.h>

namespace tbtrace::wire {
namespace {

std::string base64(std::string_view bytes) {
  std::string text = "before ";
  append_base64(text, bytes);
  return text.substr(7);
}

TEST(Base64, IsThatOfTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, TakesAnyBytes) {
  EXPECT_EQ(base64(std::string_view("\x00\xff\xfe\x80", 4)), "AP/+gA==");
}

}  // namespace
}  // namespace tbtrace::wire
