#include "recorder/window/open_ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::recorder {
namespace {

/// The same by looking through all that are open.
class Slow {
 public:
  void begin(std::uint64_t key, std::size_t row) { open_.emplace_back(key, row); }
  std::optional<std::size_t> innermost() const {
    return open_.empty() ? std::nullopt : std::optional(open_.back().second);
  }
  std::optional<std::size_t> end(std::uint64_t key) {
    for (std::size_t at = open_.size(); at-- > 0;) {
      if (open_[at].first != key) continue;
      const std::size_t row = open_[at].second;
      open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at));
      return row;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::size_t>> open_;
};

TEST(OpenRanges, NestedOnesEndFromTheInside) {
  OpenRanges open;
  EXPECT_EQ(open.innermost(), std::nullopt);
  EXPECT_EQ(open.end(1), std::nullopt);
  open.begin(1, 100);
  open.begin(2, 200);
  EXPECT_EQ(open.innermost(), 200U);
  EXPECT_EQ(open.end(2), 200U);
  EXPECT_EQ(open.innermost(), 100U);
  EXPECT_EQ(open.end(2), std::nullopt);
  EXPECT_EQ(open.end(1), 100U);
  EXPECT_EQ(open.innermost(), std::nullopt);
}

TEST(OpenRanges, OfOneKeyTheLastThatBeganEndsFirst) {
  OpenRanges open;
  open.begin(1, 100);
  open.begin(1, 200);
  open.begin(2, 300);
  EXPECT_EQ(open.end(1), 200U);
  EXPECT_EQ(open.innermost(), 300U);
  EXPECT_EQ(open.end(1), 100U);
  EXPECT_EQ(open.end(1), std::nullopt);
  EXPECT_EQ(open.end(2), 300U);
}

TEST(OpenRanges, AnswerAsASearchThroughAllDoes) {
  for (const std::uint64_t keys : {1, 3, 20, 1000}) {
    std::mt19937_64 random(keys);
    OpenRanges open;
    Slow slow;
    for (std::size_t row = 0; row < 20'000; ++row) {
      const std::uint64_t key = random() % keys;
      // Long stretches in which more begin than end, and the other way round.
      if (random() % 10 < (row / 500 % 2 == 0 ? 7U : 3U)) {
        open.begin(key, row);
        slow.begin(key, row);
      } else {
        ASSERT_EQ(open.end(key), slow.end(key)) << row;
      }
      ASSERT_EQ(open.innermost(), slow.innermost()) << row;
    }
  }
}

}  // namespace
}  // namespace tbtrace::recorder
