#include "writers/tables/weight_text.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

TEST(WeightTextTest, Times) {
  EXPECT_EQ(weight_text(0, "ns"), "0 ns");
  EXPECT_EQ(weight_text(999, "ns"), "999 ns");
  EXPECT_EQ(weight_text(1000, "ns"), "1.000 us");
  EXPECT_EQ(weight_text(12'345'678, "ns"), "12.346 ms");
  EXPECT_EQ(weight_text(999'999, "ns"), "999.999 us");
  EXPECT_EQ(weight_text(999'999'999, "ns"), "1.000 s");
  EXPECT_EQ(weight_text(3'600'000'000'000, "ns"), "3600.000 s");
  EXPECT_EQ(weight_text(std::numeric_limits<std::int64_t>::max(), "ns"), "9223372036.855 s");
}

TEST(WeightTextTest, Sizes) {
  EXPECT_EQ(weight_text(1023, "bytes"), "1023 bytes");
  EXPECT_EQ(weight_text(1024, "bytes"), "1.00 KiB");
  EXPECT_EQ(weight_text(1'572'864, "bytes"), "1.50 MiB");
  EXPECT_EQ(weight_text(1'048'575, "bytes"), "1.00 MiB");
  EXPECT_EQ(weight_text(std::numeric_limits<std::int64_t>::max(), "bytes"), "8192.00 PiB");
}

TEST(WeightTextTest, OtherUnits) { EXPECT_EQ(weight_text(12'345, "samples"), "12345 samples"); }

TEST(WeightTextTest, ExactWhereThatSaysMore) {
  EXPECT_EQ(exact_weight_text(12'345'678, "ns"), "12.346 ms (12345678 ns)");
  EXPECT_EQ(exact_weight_text(999, "ns"), "999 ns");
  EXPECT_EQ(exact_weight_text(5, "samples"), "5 samples");
}

TEST(WeightTextTest, Shares) {
  EXPECT_EQ(share_text(1, 8), "12.50 %");
  EXPECT_EQ(share_text(8, 8), "100.00 %");
  EXPECT_EQ(share_text(0, 8), "0.00 %");
  EXPECT_EQ(share_text(1, 1'000'000), "< 0.01 %");
  EXPECT_EQ(share_text(0, 0), "0.00 %");
}

}  // namespace
}  // namespace tbtrace::writers
