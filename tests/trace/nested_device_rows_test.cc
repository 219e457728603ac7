// Which of nested rows of a device count.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_choices.h"
#include "fixtures/random_rounds.h"
#include "trace/device_tracks.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;

TEST(NestedWork, CountsTheInnermostOfRowsThatFillEachOther) {
  const std::vector<DeviceRow> rows = {{10, 1010}, {11, 1009}, {12, 1008}};
  EXPECT_THAT(repeats_others(rows), ElementsAre(true, true, false));
}

TEST(NestedWork, CountsAllThatFillARowTogether) {
  const std::vector<DeviceRow> rows = {{0, 100}, {0, 30}, {40, 60}, {60, 61}, {200, 300}};
  EXPECT_THAT(repeats_others(rows), ElementsAre(true, false, false, false, false));
}

TEST(NestedWork, CountsARowWithSmallPartsInside) {
  const std::vector<DeviceRow> rows = {{0, 100}, {5, 9}, {6, 8}, {50, 50}};
  EXPECT_THAT(repeats_others(rows), ElementsAre(false, true, true, true));
}

TEST(NestedWork, CountsRowsThatOnlyOverlap) {
  const std::vector<DeviceRow> rows = {{0, 100}, {50, 150}, {150, 160}, {160, 160}};
  EXPECT_THAT(repeats_others(rows), ElementsAre(false, false, false, false));
}

TEST(NestedWork, CountsTheLastOfEqualRowsInAnyOrder) {
  EXPECT_THAT(repeats_others(std::vector<DeviceRow>{{0, 100}, {0, 100}}), ElementsAre(true, false));
  EXPECT_THAT(repeats_others(std::vector<DeviceRow>{{10, 90}, {0, 100}}), ElementsAre(false, true));
  EXPECT_THAT(repeats_others({}), ElementsAre());
}

class RandomRows : private fixtures::RandomChoices {
 public:
  explicit RandomRows(unsigned seed) : RandomChoices(seed) {}

  std::vector<DeviceRow> make() {
    nest(0, 1000, 4);
    return rows_;
  }

 private:
  void nest(std::int64_t start, std::int64_t end, int depth) {
    rows_.push_back({start, end});
    if (depth == 0) return;
    for (std::int64_t at = start + below(5); at + 2 < end;) {
      const std::int64_t until = at + 1 + below(end - at);
      nest(at, until, depth - 1);
      at = until + below(40);
    }
  }

  std::vector<DeviceRow> rows_;
};

TEST(NestedWork, CountsNoInstantTwice) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    const std::vector<DeviceRow> rows = RandomRows(seed).make();
    const std::vector<bool> repeats = repeats_others(rows);
    std::vector<int> counts(1000, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::int64_t at = rows[row].start_ns; !repeats[row] && at < rows[row].end_ns; ++at) {
        ++counts[static_cast<std::size_t>(at)];
      }
    }
    for (const int count : counts) ASSERT_LE(count, 1) << seed;
  }
}

}  // namespace
}  // namespace tbtrace
