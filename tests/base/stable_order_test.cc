#include "base/stable_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

void expect_order(const std::vector<std::int64_t>& keys) {
  std::vector<std::uint32_t> expected(keys.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (const std::size_t threads : {0u, 1u, 2u, 5u}) {
    std::vector<std::uint32_t> order(keys.size(), 0xffffffff);
    stable_order(keys, order.data(), threads);
    ASSERT_TRUE(order == expected) << keys.size() << " keys, " << threads << " threads";
  }
}

struct Pattern {
  std::string_view name;
  std::function<std::int64_t(std::size_t row, std::mt19937_64& random)> key;
};

std::vector<Pattern> patterns() {
  const auto among = [](std::int64_t low, std::int64_t high) {
    return [=](std::size_t, std::mt19937_64& random) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
  };
  return {
      {"equal", [](std::size_t, std::mt19937_64&) { return std::int64_t{-7}; }},
      {"ascending", [](std::size_t row, auto&) { return static_cast<std::int64_t>(row) - 100; }},
      {"descending", [](std::size_t row, auto&) { return -static_cast<std::int64_t>(row) * 999; }},
      {"two values", among(0, 1)},
      {"around zero", among(-3, 3)},
      {"negative", among(-1'000'000, -1)},
      {"one digit of the radix", among(5000, 5000 + 2047)},
      {"one more than a digit", among(5000, 5000 + 2048)},
      {"a recording of a second", among(1'623'143'089'000'000'000, 1'623'143'090'000'000'000)},
      {"almost sorted",
       [](std::size_t row, std::mt19937_64& random) {
         return static_cast<std::int64_t>(row * 10 + random() % 25);
       }},
      {"one stray far away",
       [](std::size_t row, auto&) { return row == 3 ? kMin : static_cast<std::int64_t>(row % 9); }},
      {"all of 64 bits", among(kMin, kMax)},
      {"the ends of 64 bits",
       [](std::size_t, std::mt19937_64& random) { return random() % 2 == 0 ? kMin : kMax; }},
  };
}

TEST(StableOrder, MatchesStableSortForAllSizesAndPatternsOfKeys) {
  std::vector<std::size_t> sizes(130);
  std::iota(sizes.begin(), sizes.end(), 0);
  sizes.insert(sizes.end(), {255, 256, 257, 1000, 2047, 2048, 2049, 4096});
  sizes.insert(sizes.end(),
               {fixtures::many_rows<std::size_t>(65535), fixtures::many_rows<std::size_t>(65536),
                fixtures::many_rows<std::size_t>(100'000)});
  for (const Pattern& pattern : patterns()) {
    SCOPED_TRACE(pattern.name);
    std::mt19937_64 random(1);
    for (const std::size_t size : sizes) {
      std::vector<std::int64_t> keys(size);
      for (std::size_t row = 0; row < size; ++row) keys[row] = pattern.key(row, random);
      ASSERT_NO_FATAL_FAILURE(expect_order(keys));
    }
  }
}

// The key's bits and the row's bits share a word; here the sum is just below, at and above 64.
TEST(StableOrder, MatchesStableSortWhereKeysAndRowsJustFitAWord) {
  std::mt19937_64 random(2);
  for (const std::size_t size : {2u, 3u, 7u, 8u, 1000u, 1023u, 1024u}) {
    for (int bits = 48; bits <= 64; ++bits) {
      std::vector<std::int64_t> keys(size);
      const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
      for (std::int64_t& key : keys) {
        const std::uint64_t offset = random() & mask & ~std::uint64_t{7};  // some are equal
        key = static_cast<std::int64_t>(static_cast<std::uint64_t>(kMin) + offset);
      }
      keys.front() = static_cast<std::int64_t>(static_cast<std::uint64_t>(kMin) + mask);
      keys.back() = kMin;
      SCOPED_TRACE(bits);
      ASSERT_NO_FATAL_FAILURE(expect_order(keys));
    }
  }
}

TEST(StableOrder, GivesIdsInAColumn) {
  enum class RowId : std::uint32_t {};
  const std::vector<std::int64_t> keys = {30, 10, 20, 10};
  const Column<RowId> order = stable_order<RowId>(keys, 1);
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[0], RowId{1});
  EXPECT_EQ(order[1], RowId{3});
  EXPECT_EQ(order[2], RowId{2});
  EXPECT_EQ(order[3], RowId{0});
}

}  // namespace
}  // namespace tbtrace
