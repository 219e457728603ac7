#include "wire/stable_hash.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

std::uint64_t hash_of(const std::string& text, std::uint64_t number) {
  StableHash hash;
  hash.add(text);
  hash.add(number);
  return hash.value();
}

// Files contain results, and machines choose by them, so they must never change.
TEST(StableHash, ResultsAreThoseOfFiles) {
  EXPECT_EQ(StableHash().value(), 14793963274888292857u);
  EXPECT_EQ(hash_of("", 0), 5431275912201575884u);
  EXPECT_EQ(hash_of("void kernel<float>(int)", 128), 12698058479477019845u);
  EXPECT_EQ(hash_of("abcdefg", 7), 4566618347125564886u);
}

TEST(StableHash, TellsOrdersAndLengthsApart) {
  std::set<std::uint64_t> seen;
  for (const std::string text : {"", "a", "b", "ab", "ba"}) {
    for (std::uint64_t number = 0; number < 1000; ++number) seen.insert(hash_of(text, number));
  }
  EXPECT_EQ(seen.size(), 5000u);
}

/// What is below a limit is a fair sample of it.
TEST(StableHash, IsSpreadOverItsRange) {
  constexpr int kSlots = 64;
  constexpr int kEach = 500;
  std::vector<int> slots(kSlots, 0);
  for (std::uint64_t number = 0; number < std::uint64_t{kSlots} * kEach; ++number) {
    ++slots[hash_of("0\n[0, 1]\n2", number) >> 58];
  }
  for (const int count : slots) EXPECT_NEAR(count, kEach, 120);  // five deviations
}

}  // namespace
}  // namespace tbtrace
