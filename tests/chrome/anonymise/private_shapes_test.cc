#include "chrome/anonymise/private_shapes.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::chrome {
namespace {

/// What starts at the place of `^`.
template <typename End>
std::string at_mark(std::string text, End end) {
  const std::size_t at = text.find('^');
  text.erase(at, 1);
  return text.substr(at, end(text, at) - at);
}

TEST(PrivateShapes, Addresses) {
  EXPECT_EQ(at_mark("to ^10.0.3.17:29500", address_end), "10.0.3.17");
  EXPECT_EQ(at_mark("^10.0.3.17x_y z", address_end), "10.0.3.17x_y");
  EXPECT_EQ(at_mark("ip-^10-0-3-17.ec2", address_end), "10-0-3-17");
  EXPECT_EQ(at_mark("^128-64-32-16", address_end), "");
  EXPECT_EQ(at_mark("[^fe80::1c2:8a2e:370:7334]", address_end), "fe80::1c2:8a2e:370:7334");
  EXPECT_EQ(at_mark("^2001:db8:0:0:8a2e:0:370:7334", address_end), "2001:db8:0:0:8a2e:0:370:7334");
  EXPECT_EQ(at_mark("^00:1a:2b:3c:4d:5e.", address_end), "00:1a:2b:3c:4d:5e");
  EXPECT_EQ(at_mark("^550e8400-e29b-41d4-a716-446655440000", address_end),
            "550e8400-e29b-41d4-a716-446655440000");
  EXPECT_EQ(at_mark("by ^ann.b@zebra.com.", address_end), "ann.b@zebra.com");
  for (const char* const text : {"^at::native::add", "^c10::dead::beef", "^12:34:56", "^1.2.3",
                                 "^memcpy@@GLIBC_2.14", "^sm_90", "^128x64"}) {
    EXPECT_EQ(at_mark(text, address_end), "") << text;
  }
}

TEST(PrivateShapes, Paths) {
  EXPECT_EQ(at_mark("open ^/data/train.py now", path_end), "/data/train.py");
  EXPECT_EQ(at_mark("s3:^//bucket/key", path_end), "//bucket/key");
  EXPECT_EQ(at_mark("\"^C:\\Users\\x.py\"", path_end), "C:\\Users\\x.py");
  EXPECT_EQ(at_mark("^~/x", path_end), "~/x");
  for (const char* const text :
       {"^/job:localhost/replica:0/task:0", "^/device:TPU:0", "a^/b/c", "^/", "^// x", "^/a"}) {
    EXPECT_EQ(at_mark(text, path_end), "") << text;
  }
}

TEST(PrivateShapes, Tokens) {
  using Words = std::vector<std::string_view>;
  EXPECT_TRUE(is_token("3f2a9c1d", Words{"f", "a", "c", "d"}, true));
  EXPECT_TRUE(is_token("550e8400", Words{"e"}, true));
  EXPECT_TRUE(is_token("s3cr3t", Words{"s", "cr", "t"}, false));
  EXPECT_TRUE(is_token("AKIA1234567890ABCDEF", Words{"AKIA", "ABCDEF"}, false));
  EXPECT_FALSE(is_token("bf16f32f16", Words{"bf", "f", "f"}, true));
  EXPECT_FALSE(is_token("zebra4711", Words{"zebra"}, false));
  EXPECT_FALSE(is_token("zebra", Words{"zebra"}, false));
  EXPECT_FALSE(is_token("h16816gemm", Words{"h", "gemm"}, true));
}

}  // namespace
}  // namespace tbtrace::chrome
