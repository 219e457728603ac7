// Ranges against a list of plain ones.
#include "recorder/window/ranges.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorder/log/record.h"

namespace tbtrace::recorder {
namespace {

constexpr std::uint64_t kStarted = 0x0123'0000'0000'1000;
constexpr std::uint64_t kEnded = kStarted + (std::uint64_t{1} << 40);

/// First words of begin records at these instants, in memory that stays.
std::vector<std::uint64_t> records_at(const std::vector<std::uint64_t>& ticks) {
  std::vector<std::uint64_t> words;
  for (const std::uint64_t at : ticks) {
    words.push_back(record_detail::head(RecordKind::begin, at));
  }
  return words;
}

TEST(Ranges, EndsAreExactHoweverFarAway) {
  const auto words = records_at({kStarted, kStarted, kStarted, kStarted, kStarted + 9});
  Ranges ranges(kStarted, kEnded);
  for (const std::uint64_t& word : words) ranges.add(&word, 3);
  constexpr std::uint64_t kLengths[] = {0, 0xffff'fffe, 0xffff'ffff, std::uint64_t{1} << 39};
  for (std::size_t row = 0; row < std::size(kLengths); ++row) {
    ranges.set_end(row, kStarted + kLengths[row]);
    EXPECT_EQ(ranges[row].end_ticks - kStarted, kLengths[row]);
    EXPECT_FALSE(ranges[row].is_open);
    EXPECT_EQ(ranges[row].log, 3U);
  }
  EXPECT_TRUE(ranges[4].is_open);
  EXPECT_EQ(ranges[4].start_ticks, kStarted + 9);
  EXPECT_EQ(ranges[4].end_ticks, kEnded);
  ranges.set_end(4, kStarted + 2);  // the clock went back
  EXPECT_EQ(ranges[4].end_ticks, kStarted + 2);
}

TEST(Ranges, SortedOnesKeepWhatWasSaidOfThem) {
  std::mt19937 random(7);
  std::vector<std::uint64_t> starts;
  for (int range = 0; range < 500; ++range) starts.push_back(kStarted + random() % 200);
  const auto words = records_at(starts);
  Ranges ranges(kStarted, kEnded);
  std::vector<Range> plain;
  for (std::size_t row = 0; row < words.size(); ++row) {
    ranges.add(&words[row], static_cast<std::uint32_t>(row));
    Range range = {.record = &words[row],
                   .numbers = &words[row],
                   .start_ticks = starts[row],
                   .end_ticks = kEnded,
                   .log = static_cast<std::uint32_t>(row),
                   .stack = 0,
                   .is_open = true,
                   .is_async = false,
                   .ends_elsewhere = false};
    if (random() % 3 != 0) {
      range.end_ticks = starts[row] + random() * (random() % 2 == 0 ? 1 : 8);
      range.is_open = false;
      range.is_async = random() % 4 == 0;
      range.ends_elsewhere = range.is_async && random() % 2 == 0;
      if (range.is_async) {
        ranges.set_late_end(row, range.end_ticks, range.ends_elsewhere);
      } else {
        ranges.set_end(row, range.end_ticks);
      }
    }
    if (random() % 4 == 0) {
      range.numbers = &words[random() % words.size()];
      ranges.set_numbers(row, range.numbers);
    }
    plain.push_back(range);
  }
  ranges.sort_by_start();
  std::stable_sort(plain.begin(), plain.end(),
                   [](const Range& a, const Range& b) { return a.start_ticks < b.start_ticks; });
  for (std::size_t row = 0; row < plain.size(); ++row) ranges.add_stack(plain[row].log + 1);
  std::size_t row = 0;
  for (const Range& range : ranges) {
    ASSERT_EQ(range.record, plain[row].record);
    EXPECT_EQ(range.numbers, plain[row].numbers);
    EXPECT_EQ(range.start_ticks, plain[row].start_ticks);
    EXPECT_EQ(range.end_ticks, plain[row].end_ticks);
    EXPECT_EQ(range.log, plain[row].log);
    EXPECT_EQ(range.stack, range.log + 1);
    EXPECT_EQ(range.is_open, plain[row].is_open);
    EXPECT_EQ(range.is_async, plain[row].is_async);
    EXPECT_EQ(range.ends_elsewhere, plain[row].ends_elsewhere);
    ++row;
  }
  EXPECT_EQ(row, plain.size());
}

}  // namespace
}  // namespace tbtrace::recorder
