// What the allocator takes for a request, against sizes worked out by hand.
#include "snapshots/allocator/sizes.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::snapshots {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

Rounding rounding(const std::string& divisions) {
  const std::vector<std::pair<std::string, std::string>> settings = {
      {"expandable_segments", "False"}, {"roundup_power2_divisions", divisions}};
  return Rounding(settings);
}

TEST(AllocatorSizes, BlocksAreMultiplesOf512Bytes) {
  const Rounding none = rounding("");
  EXPECT_EQ(none.block_bytes(0), 512);
  EXPECT_EQ(none.block_bytes(513), 1024);
  EXPECT_EQ(none.block_bytes(1200), 1536);
  EXPECT_EQ(none.added_bytes(33 * kMiB), 0);
}

TEST(AllocatorSizes, DivisionsOfPowersOfTwoRoundUp) {
  const Rounding four = rounding("1:4, 2:4, 4:4, 8:4, 16:4, 32:4");
  EXPECT_EQ(four.block_bytes(1200), 1536);  // too small for divisions
  EXPECT_EQ(four.block_bytes(4608), 5120);
  EXPECT_EQ(four.block_bytes(33 * kMiB), 40 * kMiB);
  EXPECT_EQ(four.added_bytes(33 * kMiB), 7 * kMiB);
  EXPECT_EQ(four.block_bytes(40 * kMiB), 40 * kMiB);
  EXPECT_EQ(four.block_bytes(32 * kMiB), 32 * kMiB);
  EXPECT_EQ(rounding("32:1").added_bytes(33 * kMiB), 0);  // no divisions, as c10 has it
}

TEST(AllocatorSizes, EachIntervalHasItsOwnDivisions) {
  const Rounding mixed = rounding("1:8, 2:0, 32:2, 32768:2");
  EXPECT_EQ(mixed.block_bytes(5 * 1024 + 1), 5 * 1024 + 512);  // below 2 MiB
  EXPECT_EQ(mixed.added_bytes(3 * kMiB + 1), 0);
  EXPECT_EQ(mixed.block_bytes(33 * kMiB), 48 * kMiB);
  EXPECT_EQ(mixed.block_bytes(65 * 1024 * kMiB), 96 * 1024 * kMiB);  // the last one has no end
}

TEST(AllocatorSizes, SettingsThatMakeNoSenseChangeNothing) {
  for (const char* text : {"32", "3:4", "32:", "32:-4", "x:y", "1:99999999999999999999", ":::"}) {
    EXPECT_EQ(rounding(text).block_bytes(33 * kMiB + 1), 33 * kMiB + 512) << text;
  }
}

TEST(AllocatorSizes, SegmentsAreOfThreeKinds) {
  EXPECT_EQ(segment_bytes(kMiB), 2 * kMiB);
  EXPECT_EQ(segment_bytes(kMiB + 512), 20 * kMiB);
  EXPECT_EQ(segment_bytes(11 * kMiB), 12 * kMiB);
}

}  // namespace
}  // namespace tbtrace::snapshots
