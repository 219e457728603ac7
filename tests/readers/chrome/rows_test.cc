#include "readers/chrome/rows.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/event_rows.h"

namespace tbtrace::readers {
namespace {

using fixtures::EventRows;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr RowRequest kMembers = {.members = true};

/// The kind of an event with these members; nothing if it is dropped.
std::optional<RowKind> kind_of(const std::string& members) {
  EventRows rows("{" + members + "}", kMembers);
  if (rows->rows.empty()) {
    EXPECT_NE(rows.issues(), "") << "nothing is dropped in silence: " << members;
    return std::nullopt;
  }
  return rows->rows[0].kind;
}

TEST(ChromeRows, HaveARangeForAPhaseXWithANameAndATime) {
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a","ts":1)"), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"","ts":1)"), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"","ts":"x")"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a")"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"X","ts":1)"), std::nullopt);
}

TEST(ChromeRows, HaveNothingForAnEventWithoutAPhase) {
  EXPECT_EQ(kind_of(""), std::nullopt);
  EXPECT_EQ(kind_of(R"("name":"a","ts":1)"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"","name":"a","ts":1)"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":null,"name":"a","ts":1)"), std::nullopt);
}

TEST(ChromeRows, HaveAMemoryRecordByItsName) {
  for (const std::string_view phase : {"i", "I"}) {
    const std::string start = R"("ts":1,"ph":")" + std::string(phase) + R"(","name":")";
    EXPECT_EQ(kind_of(start + R"([memory]")"), RowKind::memory);
    EXPECT_EQ(kind_of(start + R"([OutOfMemory]")"), RowKind::memory);
    EXPECT_EQ(kind_of(start + R"(\u005bmemory]")"), RowKind::memory) << "as the text means";
    EXPECT_EQ(kind_of(start + R"([Memory]")"), RowKind::instant);
    EXPECT_EQ(kind_of(start + R"([memory] ")"), RowKind::instant);
  }
  EXPECT_EQ(kind_of(R"("ph":"i")"), RowKind::instant);
}

TEST(ChromeRows, HaveAMemoryRecordAlthoughItHasALength) {
  const std::string row = R"("ph":"X","name":"[memory]","ts":1,"dur":2)";
  EXPECT_EQ(kind_of(row + R"(,"cat":"cpu_instant_event")"), RowKind::memory);
  EXPECT_EQ(kind_of(row + R"(,"cat":"cpu_op")"), RowKind::range);
  EXPECT_EQ(kind_of(row), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"X","name":"a","ts":1,"cat":"cpu_instant_event")"), RowKind::range);
}

TEST(ChromeRows, HaveARangeForABeginningAndARowForItsEnd) {
  EXPECT_EQ(kind_of(R"("ph":"B","name":"a","ts":1)"), RowKind::range);
  EXPECT_EQ(kind_of(R"("ph":"B","ts":1)"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"B","name":"a")"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"E","ts":1)"), RowKind::range_end) << "an end needs no name";
  EXPECT_EQ(kind_of(R"("ph":"E","name":"a")"), std::nullopt);
  EXPECT_EQ(kind_of(R"("ph":"E","ts":"soon")"), std::nullopt);
}

TEST(ChromeRows, KnowTheOtherPhases) {
  for (const std::string_view category : {"ac2g", "fwdbwd", "forward_backward", "async_gpu"}) {
    const std::string rest = R"(","id":1,"ts":1,"cat":")" + std::string(category) + '"';
    EXPECT_EQ(kind_of(R"("ph":"s)" + rest), RowKind::flow) << category;
    EXPECT_EQ(kind_of(R"("ph":"t)" + rest), RowKind::flow_step) << category;
    EXPECT_EQ(kind_of(R"("ph":"f)" + rest), RowKind::flow) << category;
  }
  EXPECT_EQ(kind_of(R"("ph":"s","id":1,"ts":1,"cat":"mine")"), RowKind::instant)
      << "flows of other programs are kept as they are";
  EXPECT_EQ(kind_of(R"("ph":"M")"), RowKind::label);
  EXPECT_EQ(kind_of(R"("ph":"C","name":"loss","ts":1)"), RowKind::instant);
  for (const std::string_view phase : {"b", "e", "x", "XX", "ss", " X", "1"}) {
    EXPECT_EQ(kind_of(R"("ph":")" + std::string(phase) + '"'), RowKind::unsupported) << phase;
  }
  EXPECT_EQ(kind_of(R"("ph":["X"],"name":"a","ts":1)"), RowKind::unsupported);
}

TEST(ChromeRows, HoldTheFieldsOfARange) {
  EventRows rows(R"({"ph":"X","name":"a\tb","cat":"cpu_op","pid":3,"tid":"t","ts":1.5,"dur":2,)"
                 R"("args":{"External id":7,"correlation":8,"Ev Idx":4}})");
  ASSERT_THAT(rows->ranges, SizeIs(1));
  const EventRow& row = rows->ranges[0];
  EXPECT_EQ(rows.text(row.name), "a\tb");
  EXPECT_EQ(rows.text(rows->categories[index(row.category)]), "cpu_op");
  EXPECT_EQ(rows->tracks[index(row.track)].process.number, 3);
  EXPECT_EQ(rows.text(rows->tracks[index(row.track)].thread.text), "t");
  EXPECT_EQ(row.start_ns, 1'500);
  EXPECT_EQ(row.duration_ns, 2'000);
  EXPECT_EQ(row.external_id, 7);
  EXPECT_EQ(row.correlation, 8);
  EXPECT_EQ(row.rank, 5u) << "Ev Idx + 1";
  EXPECT_EQ(rows->first_ns, 1'500);
  EXPECT_EQ(rows->last_ns, 3'500);
  EXPECT_EQ(rows.issues(), "");
  EXPECT_TRUE(rows.made().has_events());
}

TEST(ChromeRows, CountRangesBeforeEachEnd) {
  EventRows rows(R"({"ph":"E","ts":1},{"ph":"B","name":"a","ts":2},{"ph":"E","name":"a","ts":3})");
  ASSERT_THAT(rows->range_ends, SizeIs(2));
  EXPECT_EQ(rows->range_ends[0].ranges_before, 0u);
  EXPECT_EQ(rows->range_ends[0].name, StringId::empty);
  EXPECT_EQ(rows->range_ends[1].ranges_before, 1u);
  EXPECT_EQ(rows.text(rows->range_ends[1].name), "a");
  EXPECT_EQ(rows->range_ends[1].time_ns, 3'000);
  ASSERT_THAT(rows->ranges, SizeIs(1));
  EXPECT_NE(rows->ranges[0].flags & Events::kBegun, 0);
}

TEST(ChromeRows, NoteTheFirstTimeOfRowsThatTheModelDoesNotHold) {
  EventRows rows(R"({"ph":"i","name":"x","ts":5},{"ph":"C","ts":3},{"ph":"i","ts":"soon"},)"
                 R"({"ph":"X","name":"a","ts":1})");
  EXPECT_EQ(rows->first_other_time_ns, 3'000);
  EXPECT_EQ(rows->first_ns, 1'000);
}

std::vector<std::string> texts(const std::vector<RowMember>& members) {
  std::vector<std::string> texts;
  for (const RowMember& member : members) {
    texts.push_back(std::string(member.key) + "=" + std::string(member.json));
  }
  return texts;
}

TEST(ChromeRows, HoldAllMembersIfAsked) {
  EventRows rows(
      R"({"ph":"X","name":"a\u0041","own \"key\"":[1],"ts":1,"args":{"Ev Idx":2,"s":"t\/"}},)"
      R"({"ph":"i","ts":2})",
      kMembers);
  EXPECT_THAT(texts(rows->members), ElementsAre("ph=\"X\"", "name=\"aA\"", "own \"key\"=[1]",
                                                "ts=1", "args=", "ph=\"i\"", "ts=2"));
  EXPECT_THAT(texts(rows->arguments), ElementsAre("Ev Idx=2", "s=\"t/\""));
  EXPECT_TRUE(rows->members[0].is_plain);
  EXPECT_FALSE(rows->members[2].is_plain);
  EXPECT_EQ(rows->members[0].field, EventField::phase);
  EXPECT_EQ(rows->arguments[0].argument, Argument::event_index);
  ASSERT_THAT(rows->rows, SizeIs(2));
  EXPECT_EQ(rows->rows[0].members_end, 5u);
  EXPECT_EQ(rows->rows[0].arguments_end, 2u);
  EXPECT_EQ(rows->rows[1].members_end, 7u);
  EXPECT_EQ(rows->rows[1].arguments_end, 2u);
}

TEST(ChromeRows, KeepNoMembersOfEventsThatAreDropped) {
  EventRows rows(R"({"ph":"X","name":"a","ts":"soon","own":1},{"ph":"X","name":"b","ts":1})",
                 kMembers);
  EXPECT_THAT(texts(rows->members), ElementsAre("ph=\"X\"", "name=\"b\"", "ts=1"));
  ASSERT_THAT(rows->rows, SizeIs(1));
  EXPECT_EQ(rows->rows[0].number, 0u);
}

TEST(ChromeRows, ForgetRowsAndKeepTables) {
  EventRows rows(R"({"ph":"X","name":"a","ts":1,"dur":"x"},{"ph":"X","name":"b","ts":1})");
  EXPECT_EQ(rows.issues(), "time_unreadable 1");
  const std::size_t texts = rows->texts.size();
  rows.made().clear();
  EXPECT_THAT(rows->ranges, IsEmpty());
  EXPECT_EQ(rows.issues(), "");
  EXPECT_FALSE(rows.made().has_elements());
  EXPECT_EQ(rows->texts.size(), texts);
  EXPECT_EQ(rows->generation, 0u);
}

TEST(ChromeRows, BeginNewTablesOnceTheyAreLarge) {
  std::string text;
  for (int row = 0; row < 9000; ++row) {
    if (row > 0) text += ',';
    text += R"({"ph":"X","name":"name )" + std::to_string(row) + R"(","ts":1})";
  }
  EventRows rows(text);
  EXPECT_GT(rows->texts.size(), 9000u);
  rows.made().clear();
  EXPECT_EQ(rows->generation, 1u);
  EXPECT_EQ(rows->texts.size(), 1u) << "the empty text";
  EXPECT_THAT(rows->tracks, IsEmpty());
  EXPECT_THAT(rows->categories, IsEmpty());
}

TEST(ChromeRows, CountWhatIsLost) {
  ChromeRows rows({}, 0);
  EXPECT_FALSE(rows.has_elements());
  rows.add_no_event(7, 9);
  rows.add_lost(IssueId::event_unreadable, 9);
  EXPECT_TRUE(rows.has_elements());
  EXPECT_FALSE(rows.has_events());
  const std::vector<Issue> issues = rows.issues().list();
  ASSERT_THAT(issues, SizeIs(2));
  EXPECT_EQ(issues[0].id, "event_unreadable");
  EXPECT_THAT(issues[0].offsets, ElementsAre(9));
  EXPECT_EQ(issues[1].id, "event_incomplete");
  EXPECT_THAT(issues[1].offsets, ElementsAre(7));
}

TEST(RowRequest, AsksForWhatRowsHold) {
  const ArgumentSet few = RowRequest{.arguments = {}}.keys();
  EXPECT_TRUE(few.contains(Argument::external_id));
  EXPECT_TRUE(few.contains(Argument::python_id)) << "it marks frames";
  EXPECT_FALSE(few.contains(Argument::input_dims));
}

}  // namespace
}  // namespace tbtrace::readers
