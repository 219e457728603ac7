#include "jobs/merge/part_ids.h"

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::jobs {
namespace {

std::string changed(PartIds& ids, const std::string& id, NoId no_id = NoId::never) {
  std::string json;
  return ids.append(json, id, no_id) ? json : "-";
}

TEST(PartIds, TheNumberOfThePartFollowsTheDigits) {
  PartIds ids(3, 2);
  EXPECT_EQ(changed(ids, "12"), "1203");
  EXPECT_EQ(changed(ids, "-5"), "-503");
  EXPECT_EQ(changed(ids, "0"), "3");
  EXPECT_EQ(changed(ids, "-0"), "3");
  EXPECT_EQ(changed(ids, "7.0"), "703");
  EXPECT_EQ(changed(ids, "1e3"), "100003");
  EXPECT_EQ(changed(ids, "\"12\""), "\"1203\"");
  EXPECT_EQ(changed(ids, "\"0x1f\""), "\"0x1f03\"");
  EXPECT_EQ(changed(ids, "\"Spans\""), "\"Spans 03\"");
  EXPECT_EQ(changed(ids, "\"\""), "\" 03\"");
  EXPECT_EQ(changed(ids, "\"007\""), "\"007 03\"");
}

TEST(PartIds, WhatIsNotAnIdIsLeftToTheCaller) {
  PartIds ids(3, 2);
  for (const char* const other : {"null", "true", "1.5", "NaN", "[1]", "{}", ""}) {
    EXPECT_EQ(changed(ids, other), "-") << other;
    EXPECT_FALSE(PartIds::takes(other)) << other;
  }
  for (const char* const id : {"0", "-0", "7.0", "1e3", "\"\"", "\"Spans\""}) {
    EXPECT_TRUE(PartIds::takes(id)) << id;
  }
  EXPECT_TRUE(ids.long_ids().empty());
}

TEST(PartIds, ValuesThatMeanNoIdStay) {
  PartIds ids(3, 1);
  EXPECT_EQ(changed(ids, "0", NoId::zero_and_minus_one), "0");
  EXPECT_EQ(changed(ids, "-1", NoId::zero_and_minus_one), "-1");
  EXPECT_EQ(changed(ids, "-1", NoId::minus_one), "-1");
  EXPECT_EQ(changed(ids, "0", NoId::minus_one), "3");
  EXPECT_EQ(changed(ids, "-1"), "-13");
}

TEST(PartIds, LongIdsGetNumbersFromATable) {
  PartIds ids(3, 2);
  EXPECT_EQ(changed(ids, "18446744073709551615"), "1000000000000003");
  EXPECT_EQ(changed(ids, "-9223372036854775808"), "1000000000000103");
  EXPECT_EQ(changed(ids, "18446744073709551615"), "1000000000000003");
  EXPECT_EQ(changed(ids, "1234567890123"), "123456789012303");
  EXPECT_EQ(changed(ids, "12345678901234"), "1000000000000203");
  EXPECT_EQ(ids.long_ids(), (std::vector<std::string>{"18446744073709551615",
                                                      "-9223372036854775808", "12345678901234"}));
}

/// Ids of all sizes, of several parts, are kept apart, fit a double, and lead back.
TEST(PartIds, RandomIdsOfSeveralPartsNeverMeet) {
  std::mt19937_64 random(7);
  for (int round = 0; round < fixtures::random_rounds(20); ++round) {
    const std::size_t digits = 1 + random() % 4;
    std::int64_t parts = 1;
    for (std::size_t digit = 0; digit < digits; ++digit) parts *= 10;
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> owners;  // part and old id
    for (int part = 0; part < 5; ++part) {
      const std::int64_t number = part == 0 ? parts - 1 : part;
      PartIds ids(number, digits);
      for (int each = 0; each < 200; ++each) {
        const auto id = static_cast<std::int64_t>(random()) >> (random() % 64);
        const std::int64_t written = std::stoll(changed(ids, std::to_string(id)));
        ASSERT_LT(std::abs(written), std::int64_t{1} << 53);
        const auto [owner, is_new] = owners.try_emplace(written, number, id);
        ASSERT_EQ(owner->second, std::pair(number, id));
        // The rule of docs/formats/merged_trace.md, backwards.
        std::int64_t back = written / parts;
        if (written >= PartIds::kFirstLongId) {
          const std::int64_t place = (written - PartIds::kFirstLongId) / parts;
          back = std::stoll(ids.long_ids().at(static_cast<std::size_t>(place)));
        }
        ASSERT_EQ(back, id);
        ASSERT_EQ(std::abs(written) % parts, number);
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace::jobs
