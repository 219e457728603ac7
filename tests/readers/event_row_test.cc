#include "readers/event_row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/tokenized.h"

namespace tbtrace::readers {
namespace {

using fixtures::Tokenized;

/// The kind of an event with these members.
RowKind kind_of(const std::string& members) {
  ChromeTokenizer tokenizer;
  const Tokenized tokens("{" + members + "}", tokenizer);
  EXPECT_EQ(tokens.end, TokenEnd::complete) << members;
  return row_kind(tokens.event);
}

std::optional<RangeTimes> times_of(const std::string& members) {
  ChromeTokenizer tokenizer;
  const Tokenized tokens("{" + members + "}", tokenizer);
  EXPECT_EQ(tokens.end, TokenEnd::complete) << members;
  return range_times(tokens.event);
}

TEST(EventRow, IsARangeWithANameAndATime) {
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a","ts":1)"), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"","ts":"x")"), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a")"), RowKind::incomplete);
  EXPECT_EQ(kind_of(R"("ph":"X","ts":1)"), RowKind::incomplete);
}

TEST(EventRow, IsNothingWithoutAPhase) {
  EXPECT_EQ(kind_of(""), RowKind::incomplete);
  EXPECT_EQ(kind_of(R"("name":"a","ts":1)"), RowKind::incomplete);
  EXPECT_EQ(kind_of(R"("ph":"","name":"a","ts":1)"), RowKind::incomplete);
}

TEST(EventRow, IsMemoryByItsName) {
  for (const std::string_view phase : {"i", "I"}) {
    const std::string start = R"("ph":")" + std::string(phase) + R"(","name":")";
    EXPECT_EQ(kind_of(start + R"([memory]")"), RowKind::memory);
    EXPECT_EQ(kind_of(start + R"([OutOfMemory]")"), RowKind::memory);
    EXPECT_EQ(kind_of(start + R"([Memory]")"), RowKind::instant);
    EXPECT_EQ(kind_of(start + R"([memory] ")"), RowKind::instant);
  }
  EXPECT_EQ(kind_of(R"("ph":"i")"), RowKind::instant);
}

TEST(EventRow, IsMemoryAlthoughItHasALength) {
  const std::string row = R"("ph":"X","name":"[memory]","ts":1,"dur":2)";
  EXPECT_EQ(kind_of(row + R"(,"cat":"cpu_instant_event")"), RowKind::memory);
  EXPECT_EQ(kind_of(row + R"(,"cat":"cpu_op")"), RowKind::range);
  EXPECT_EQ(kind_of(row), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a","ts":1,"cat":"cpu_instant_event")"), RowKind::range);
}

TEST(EventRow, KnowsTheOtherPhases) {
  EXPECT_EQ(kind_of(R"("ph":"s")"), RowKind::flow);
  EXPECT_EQ(kind_of(R"("ph":"f")"), RowKind::flow);
  EXPECT_EQ(kind_of(R"("ph":"t")"), RowKind::instant);
  EXPECT_EQ(kind_of(R"("ph":"M")"), RowKind::label);
  for (const std::string_view phase : {"B", "E", "C", "x", "XX", "ss", " X", "1"}) {
    EXPECT_EQ(kind_of(R"("ph":")" + std::string(phase) + '"'), RowKind::unsupported) << phase;
  }
  EXPECT_EQ(kind_of(R"("ph":["X"],"name":"a","ts":1)"), RowKind::unsupported);
}

TEST(EventRow, HasTimesInNanoseconds) {
  const auto times = times_of(R"("ts":12.345,"dur":0.0015)");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->start_ns, 12'345);
  EXPECT_EQ(times->duration_ns, 2);
  EXPECT_FALSE(times->negative);
  const auto before = times_of(R"("ts":"-5","dur":"1e1")");
  ASSERT_TRUE(before) << "some writers put numbers in quotes";
  EXPECT_EQ(before->start_ns, -5'000);
  EXPECT_EQ(before->duration_ns, 10'000);
}

TEST(EventRow, MayLackALength) {
  for (const std::string_view duration : {"", R"(,"dur":null)", R"(,"dur":0)"}) {
    const auto times = times_of(R"("ts":1)" + std::string(duration));
    ASSERT_TRUE(times) << duration;
    EXPECT_EQ(times->duration_ns, 0);
    EXPECT_FALSE(times->negative);
  }
}

TEST(EventRow, TellsALengthBelowZero) {
  const auto times = times_of(R"("ts":1,"dur":-0.001)");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->duration_ns, 0);
  EXPECT_TRUE(times->negative);
}

TEST(EventRow, HasNoTimesIfTheyAreUnreadable) {
  for (const std::string_view members :
       {"", R"("ts":"")", R"("ts":"a")", R"("ts":null)", R"("ts":[1])", R"("ts":1,"dur":"a")",
        R"("ts":1,"dur":"")", R"("ts":NaN)", R"("dur":1)"}) {
    EXPECT_FALSE(times_of(std::string(members))) << members;
  }
}

TEST(EventRow, HasNoTimesThatAreTooFarAway) {
  // 2^62 ns are 4611686018427387.904 us.
  EXPECT_TRUE(times_of(R"("ts":4611686018427387.903)"));
  EXPECT_FALSE(times_of(R"("ts":4611686018427387.904)"));
  EXPECT_TRUE(times_of(R"("ts":-4611686018427387.903)"));
  EXPECT_FALSE(times_of(R"("ts":-4611686018427387.904)"));
  EXPECT_TRUE(times_of(R"("ts":4611686018427387,"dur":0.903)"));
  EXPECT_FALSE(times_of(R"("ts":4611686018427387,"dur":0.904)")) << "the end is too far away";
  EXPECT_FALSE(times_of(R"("ts":1,"dur":4611686018427387.904)"));
}

TEST(EventRow, GivesAFieldThatIsThereAndNotNull) {
  ChromeTokenizer tokenizer;
  const Tokenized tokens(R"({"id":0,"cat":null,"name":""})", tokenizer);
  EXPECT_TRUE(is_given(tokens.event, Field::flow_id));
  EXPECT_TRUE(is_given(tokens.event, Field::name));
  EXPECT_FALSE(is_given(tokens.event, Field::category));
  EXPECT_FALSE(is_given(tokens.event, Field::process));
}

}  // namespace
}  // namespace tbtrace::readers
