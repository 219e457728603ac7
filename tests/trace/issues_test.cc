#include "trace/issues.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(IssueTable, StandsInTheOrderOfItsIds) {
  const auto id = [](IssueId issue) { return kIssueTable[static_cast<std::size_t>(issue)].id; };
  EXPECT_EQ(id(IssueId::input_truncated), "input_truncated");
  EXPECT_EQ(id(IssueId::input_damaged), "input_damaged");
  EXPECT_EQ(id(IssueId::event_unreadable), "event_unreadable");
  EXPECT_EQ(id(IssueId::event_too_large), "event_too_large");
  EXPECT_EQ(id(IssueId::member_unreadable), "member_unreadable");
  EXPECT_EQ(id(IssueId::event_incomplete), "event_incomplete");
  EXPECT_EQ(id(IssueId::time_unreadable), "time_unreadable");
  EXPECT_EQ(id(IssueId::negative_duration), "negative_duration");
  EXPECT_EQ(id(IssueId::phase_unsupported), "phase_unsupported");
  EXPECT_EQ(id(IssueId::unescaped_text), "unescaped_text");
  EXPECT_EQ(id(IssueId::invalid_utf8), "invalid_utf8");
  EXPECT_EQ(id(IssueId::repeated_key), "repeated_key");
  EXPECT_EQ(id(IssueId::too_many_categories), "too_many_categories");
  EXPECT_EQ(id(IssueId::too_many_tracks), "too_many_tracks");
  EXPECT_EQ(id(IssueId::too_many_events), "too_many_events");
  EXPECT_EQ(id(IssueId::trailing_text), "trailing_text");
  EXPECT_EQ(id(IssueId::id_unreadable), "id_unreadable");
  EXPECT_EQ(id(IssueId::argument_unreadable), "argument_unreadable");
  EXPECT_EQ(id(IssueId::counter_unreadable), "counter_unreadable");
  EXPECT_EQ(id(IssueId::range_not_ended), "range_not_ended");
  EXPECT_EQ(id(IssueId::range_end_unmatched), "range_end_unmatched");
  EXPECT_EQ(id(IssueId::events_replaced), "events_replaced");
}

TEST(IssueTable, CallsOnlyThatALossWhichLosesEventsOrLinks) {
  constexpr std::string_view kLosses[] = {"skipped",      "array was read",  "before",
                                          "was not read", "merged into one", "may not be linked"};
  for (const IssueRow& row : kIssueTable) {
    const bool loss = std::any_of(
        std::begin(kLosses), std::end(kLosses),
        [&](std::string_view word) { return row.sentence.find(word) != std::string_view::npos; });
    EXPECT_EQ(row.severity == Severity::data_loss, loss) << row.id << ": " << row.sentence;
  }
}

TEST(IssueLog, IsEmptyUntilSomethingIsAdded) {
  IssueLog log;
  EXPECT_TRUE(log.empty());
  EXPECT_THAT(log.list(), SizeIs(0));
  log.add(IssueId::repeated_key, 0);
  EXPECT_FALSE(log.empty());
}

TEST(IssueLog, ListsKindsInTheOrderOfTheTableWithTheirRows) {
  IssueLog log;
  log.add(IssueId::repeated_key, 30);
  log.add(IssueId::input_truncated, 99);
  log.add(IssueId::event_unreadable, 20);
  log.add(IssueId::repeated_key, 10);
  const std::vector<Issue> issues = log.list();
  ASSERT_THAT(issues, SizeIs(3));
  EXPECT_EQ(issues[0].id, "input_truncated");
  EXPECT_EQ(issues[0].severity, Severity::data_loss);
  EXPECT_EQ(issues[1].id, "event_unreadable");
  EXPECT_EQ(issues[2].id, "repeated_key");
  EXPECT_EQ(issues[2].severity, Severity::info);
  EXPECT_EQ(issues[2].sentence,
            kIssueTable[static_cast<std::size_t>(IssueId::repeated_key)].sentence);
  EXPECT_EQ(issues[2].count, 2u);
  EXPECT_THAT(issues[2].offsets, ElementsAre(30, 10)) << "as they were met";
}

TEST(IssueLog, KeepsTheFirstOffsetsAndCountsTheRest) {
  IssueLog log;
  for (std::uint64_t offset = 100; offset < 200; ++offset) {
    log.add(IssueId::event_unreadable, offset);
  }
  const std::vector<Issue> issues = log.list();
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].count, 100u);
  EXPECT_THAT(issues[0].offsets, ElementsAre(100, 101, 102, 103, 104));
}

TEST(IssueLog, TakesAnotherLogWithItsOffsetsShifted) {
  IssueLog all;
  all.add(IssueId::event_unreadable, 3);
  IssueLog block;
  block.add(IssueId::event_unreadable, 5);
  block.add(IssueId::invalid_utf8, 7);
  all.take(block, 1000);
  EXPECT_TRUE(block.empty()) << "what was taken is gone";
  const std::vector<Issue> issues = all.list();
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].count, 2u);
  EXPECT_THAT(issues[0].offsets, ElementsAre(3, 1005));
  EXPECT_THAT(issues[1].offsets, ElementsAre(1007));
}

TEST(IssueLog, CanBeFilledAgainAfterItWasTaken) {
  IssueLog all;
  IssueLog block;
  block.add(IssueId::repeated_key, 1);
  all.take(block, 10);
  block.add(IssueId::repeated_key, 2);
  all.take(block, 20);
  all.take(block, 30);
  const std::vector<Issue> issues = all.list();
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].count, 2u);
  EXPECT_THAT(issues[0].offsets, ElementsAre(11, 22));
}

TEST(IssueLog, KeepsNoMoreOffsetsOfSeveralLogsThanOfOne) {
  IssueLog all;
  for (std::uint64_t block = 0; block < 4; ++block) {
    IssueLog log;
    log.add(IssueId::invalid_utf8, 1);
    log.add(IssueId::invalid_utf8, 2);
    all.take(log, block * 100);
  }
  const std::vector<Issue> issues = all.list();
  ASSERT_THAT(issues, SizeIs(1));
  EXPECT_EQ(issues[0].count, 8u);
  EXPECT_THAT(issues[0].offsets, ElementsAre(1, 2, 101, 102, 201));
}

TEST(IssueTable, HasAnIdForEveryKindAndACauseWithARemedy) {
  std::set<std::string_view> ids;
  for (const IssueRow& row : kIssueTable) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is there twice";
    EXPECT_EQ(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << row.id;
    EXPECT_GT(row.sentence.size(), 20u) << row.id;
    EXPECT_EQ(row.sentence.find('\n'), std::string_view::npos) << row.id;
    const std::size_t remedy = row.sentence.find("; ");
    ASSERT_NE(remedy, std::string_view::npos) << row.id << " has no remedy";
    EXPECT_GT(row.sentence.size() - remedy, 10u) << row.id;
  }
}

TEST(IssueLog, KnowsTheStretchesThatWereLost) {
  IssueLog all;
  all.add_lost(IssueId::event_incomplete, 10, 12);
  all.begin_loss(IssueId::event_unreadable, 20);
  all.begin_loss(IssueId::event_unreadable, 25);
  all.end_loss(30);
  all.end_loss(99);
  IssueLog block;
  block.add_lost(IssueId::time_unreadable, 1, 4);
  block.begin_loss(IssueId::event_unreadable, 6);
  all.take(block, 100);
  all.end_loss(109);
  all.extend_loss(110);
  const auto text = [&] {
    std::string text;
    for (const Loss& loss : all.losses().kept) {
      text += std::to_string(loss.start) + '-' + std::to_string(loss.end) + ' ';
    }
    return text;
  };
  EXPECT_EQ(text(), "10-12 20-30 101-104 106-110 ");
  EXPECT_EQ(all.count(IssueId::event_unreadable), 3U);
  EXPECT_TRUE(block.empty());
  all.replace_losses({IssueId::events_replaced, 15, 102});
  EXPECT_EQ(text(), "10-12 15-102 106-110 ");
}

TEST(IssueLog, KeepsTheFirstOfVeryManyLosses) {
  IssueLog log;
  for (std::uint64_t at = 0; at < Losses::kMost + 3; ++at) {
    log.add_lost(IssueId::event_incomplete, 10 * at, 10 * at + 2);
  }
  EXPECT_THAT(log.losses().kept, SizeIs(Losses::kMost));
  EXPECT_EQ(log.losses().others, 3U);
  EXPECT_EQ(log.losses().others_bytes, 6U);
  // What follows the document goes on.
  log.add_lost(IssueId::trailing_text, 200'000, 200'001);
  log.extend_loss(200'010);
  EXPECT_EQ(log.losses().kept.back().start, 200'000U);
  EXPECT_EQ(log.losses().kept.back().end, 200'010U);
  log.replace_losses({IssueId::events_replaced, 5, 150'000});
  EXPECT_THAT(log.losses().kept, SizeIs(3));
  EXPECT_EQ(log.losses().others, 0U);
  EXPECT_EQ(log.losses().others_bytes, 0U);
}

}  // namespace
}  // namespace tbtrace
