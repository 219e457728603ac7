// The second pass over a file sees the same ranges as the first, under the same numbers.
#include "readers/replay.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/chrome_text.h"
#include "fixtures/failing_source.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::in_quotes;
using fixtures::Layout;
using fixtures::op;
using testing::ElementsAre;
using testing::IsEmpty;

struct Row {
  RowKind kind = RowKind::range;
  EventId range = EventId::none;
  std::string name;
  RangeTimes times;
  std::vector<std::string> members;
  std::vector<std::string> arguments;
};

/// Keeps the rows that count.
class Collector final : public RowVisitor {
 public:
  void row(RowKind kind, EventId range, const RawEvent& event, const TextRules& rules) override {
    Row row;
    row.kind = kind;
    row.range = range;
    std::string scratch;
    if (event.has(Field::name)) row.name = decode(event[Field::name], rules, scratch).text;
    if (const auto times = range_times(event)) row.times = *times;
    row.members = texts(event.members);
    row.arguments = texts(event.arguments);
    pending_.push_back(std::move(row));
  }
  void keep() override {
    ++keeps;
    for (Row& row : pending_) rows.push_back(std::move(row));
    pending_.clear();
  }
  void drop() override {
    ++drops;
    pending_.clear();
  }

  bool is_done() const { return pending_.empty(); }

  std::vector<Row> rows;
  int keeps = 0;
  int drops = 0;

 private:
  static std::vector<std::string> texts(const std::vector<Member>& members) {
    std::vector<std::string> texts;
    for (const Member& member : members) {
      const char* const quote = member.value.is_string() ? "'" : "";
      texts.push_back(std::string(member.key) + "=" + quote + std::string(member.value.text()) +
                      quote);
    }
    return texts;
  }

  std::vector<Row> pending_;
};

Collector replayed(std::string_view text) {
  Collector collector;
  const auto source = io::memory_source(text);
  const Status status = replay_chrome(*source, collector);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(collector.is_done()) << "no row is left in the air";
  return collector;
}

/// Every range of the trace once, in order, with the same name and times.
void expect_same_ranges(std::string_view text, int threads = 1) {
  const Trace trace = fixtures::read(text, {.threads = threads});
  const Collector collector = replayed(text);
  std::size_t next = 0;
  for (const Row& row : collector.rows) {
    if (row.kind != RowKind::range) {
      ASSERT_EQ(row.range, EventId::none);
      continue;
    }
    ASSERT_EQ(index(row.range), next);
    ASSERT_LT(next, trace.events().size());
    ASSERT_EQ(row.name, trace.name(row.range));
    ASSERT_EQ(row.times.start_ns, trace.events().start_ns(row.range));
    ++next;
  }
  EXPECT_EQ(next, trace.events().size());
}

ChromeEvent instant(std::string_view name) {
  return op(name).with("ph", "\"i\"").without("dur").without("cat");
}

/// Rows of all kinds, some of which the model leaves out.
ChromeEvent random_event(std::mt19937& random, std::size_t row) {
  const std::string number = std::to_string(row);
  ChromeEvent event = op("aten::op" + number, number + ".125", "2.5");
  event.arg("External id", number);
  switch (random() % 12) {
    case 0:
      return instant("[memory]").arg("Bytes", number);
    case 1:
      return event.with("ph", "\"s\"").with("cat", "\"ac2g\"").with("id", number);
    case 2:
      return event.with("ph", "\"M\"").with("name", "\"thread_name\"").arg("name", "\"t\"");
    case 3:
      return event.without("name");
    case 4:
      return event.with("ts", "\"never\"");
    case 5:
      return event.with("dur", "-1");
    case 6:
      return event.with("ph", "\"B\"");
    case 7:
      return event.with("name", R"("[memory]")").with("cat", "\"cpu_instant_event\"");
    case 8:
      return event.with("name", R"("a\\b, \u00e9 )" + number + '"');
    case 9:
      return event.with("dur", "4611686018427387");
    default:
      return event;
  }
}

ChromeText random_trace(unsigned seed, std::size_t events) {
  std::mt19937 random(seed);
  ChromeText trace;
  for (std::size_t row = 0; row < events; ++row) trace.events.push_back(random_event(random, row));
  trace.after = {{"traceName", "\"t\""}};
  return trace;
}

TEST(Replay, GivesRangesTheirNumbersInEveryLayout) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const ChromeText trace = random_trace(seed, 60);
    for (const Layout layout : fixtures::kAllLayouts) {
      SCOPED_TRACE(seed);
      expect_same_ranges(trace.text(layout));
    }
    expect_same_ranges(fixtures::array_text(trace.events, Layout::event_a_line));
  }
}

TEST(Replay, GivesRangesTheirNumbersInManyBlocks) {
  const ChromeText trace = random_trace(1, 12'000);
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    ASSERT_GT(text.size(), 4u * 256 * 1024);
    expect_same_ranges(text, 3);
  }
}

TEST(Replay, GivesRangesTheirNumbersInFilesThatWereCut) {
  const std::string text = random_trace(2, 40).text(Layout::event_a_line);
  for (std::size_t size = text.find("traceEvents") + 16; size < text.size(); size += 7) {
    SCOPED_TRACE(size);
    expect_same_ranges(text.substr(0, size));
  }
  const std::string large = random_trace(3, 9000).text();
  for (const std::size_t size : {large.size() - 1, large.size() / 2, large.size() / 3}) {
    expect_same_ranges(large.substr(0, size), 2);
  }
}

TEST(Replay, GivesRangesTheirNumbersInDamagedFiles) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const bool large = seed % 60 == 0;
    const Layout layout = fixtures::kAllLayouts[seed % 6];
    std::string text = random_trace(seed, large ? 9000 : 40).text(layout);
    for (int change = large ? 40 : 4; change > 0; --change) {
      text[100 + random() % (text.size() - 100)] = "\"{}[],:\\\xff\n0x"[random() % 12];
    }
    if (!fixtures::try_read(text).ok()) continue;
    SCOPED_TRACE(seed);
    expect_same_ranges(text, large ? 2 : 1);
  }
}

TEST(Replay, GivesRangesTheirNumbersWhereGarbageMisleadsTheCut) {
  // Texts in names look like the gap between two events, and a string swallows some of them.
  std::string text = "{\"traceEvents\":[";
  for (std::size_t row = 0; row < 9000; ++row) {
    if (row > 0) text += ',';
    if (row % 500 == 499) text += "\"" + std::string(70'000, 'g') + "},{\"ph\":\"X\" @,";
    const ChromeEvent event =
        row % 5 == 0 ? op("},{\\\"ph\\\"" + std::to_string(row)) : op(std::to_string(row));
    text += fixtures::event_text(event, Layout::minified);
  }
  text += "]}";
  expect_same_ranges(text);
  EXPECT_GT(replayed(text).drops, 0) << "a cut was wrong, so rows came twice";
}

TEST(Replay, GivesAllMembersInTheirOrder) {
  const std::string text =
      R"([{"ph":"X","zzz":[1, {"a":2}],"name":"a","cat":"c","x\"y":"v\n","ts":1,"args":)"
      R"({"External id":5,"own":null,"s":"t","n":{"args":{}},"External id":6},"dur":2,"bp":NaN}])";
  const Collector collector = replayed(text);
  ASSERT_EQ(collector.rows.size(), 1u);
  EXPECT_THAT(collector.rows[0].members,
              ElementsAre("ph='X'", "zzz=[1, {\"a\":2}]", "name='a'", "cat='c'", "x\\\"y='v\\n'",
                          "ts=1", "dur=2", "bp=NaN"));
  EXPECT_THAT(collector.rows[0].arguments, ElementsAre("External id=5", "own=null", "s='t'",
                                                       "n={\"args\":{}}", "External id=6"));
}

TEST(Replay, GivesTheSameMembersInEveryLayout) {
  ChromeText trace;
  trace.events = {op("a").arg("first", "1").arg("own", "\"text\"").with("s", "\"t\""),
                  op("b").arg("grid", "[1, 2, 3]").arg("Call stack", "\"a;b\"")};
  const Collector expected = replayed(trace.text());
  for (const Layout layout : fixtures::kAllLayouts) {
    const Collector other = replayed(trace.text(layout));
    ASSERT_EQ(other.rows.size(), 2u);
    for (std::size_t row = 0; row < 2; ++row) {
      EXPECT_EQ(other.rows[row].members, expected.rows[row].members);
      EXPECT_EQ(other.rows[row].arguments, expected.rows[row].arguments);
    }
  }
}

TEST(Replay, DoesNotMixTheMembersOfEvents) {
  const Collector collector =
      replayed(R"([{"ph":"X","name":"a","ts":1,"args":{"k":1}},)"
               R"({"ph":"X","name":"b","ts":1,"args":[{"l":2}]},{"ph":"i"}])");
  ASSERT_EQ(collector.rows.size(), 3u);
  EXPECT_THAT(collector.rows[0].arguments, ElementsAre("k=1"));
  EXPECT_THAT(collector.rows[1].arguments, IsEmpty());
  EXPECT_THAT(collector.rows[1].members,
              ElementsAre("ph='X'", "name='b'", "ts=1", "args=[{\"l\":2}]"));
  EXPECT_THAT(collector.rows[2].members, ElementsAre("ph='i'"));
}

TEST(Replay, LeavesOutWhatTheModelLeftOut) {
  ChromeText trace;
  trace.events = {op("no time", "\"x\""), op("ok"),
                  op("").without("name"), op("no phase").without("ph"),
                  op("far", "1", "9e18"), op("negative", "1", "-1")};
  const Collector collector = replayed(trace.text());
  ASSERT_EQ(collector.rows.size(), 2u);
  EXPECT_EQ(collector.rows[0].name, "ok");
  EXPECT_EQ(index(collector.rows[0].range), 0u);
  EXPECT_EQ(collector.rows[1].name, "negative");
  EXPECT_EQ(index(collector.rows[1].range), 1u);
}

TEST(Replay, TellsTheKindsOfRows) {
  ChromeText trace;
  trace.events = {op("a"),
                  instant("[memory]"),
                  instant("other"),
                  op("b").with("ph", "\"s\""),
                  op("c").with("ph", "\"M\""),
                  op("d").with("ph", "\"C\"")};
  std::vector<RowKind> kinds;
  for (const Row& row : replayed(trace.text()).rows) kinds.push_back(row.kind);
  EXPECT_THAT(kinds, ElementsAre(RowKind::range, RowKind::memory, RowKind::instant, RowKind::flow,
                                 RowKind::label, RowKind::unsupported));
}

TEST(Replay, DoesNotDependOnHowTheBytesArrive) {
  const std::string text = random_trace(4, 3000).text(Layout::kineto_lines);
  const Collector whole = replayed(text);
  for (const std::size_t piece : {37u, 4097u, 131'071u}) {
    Collector collector;
    const auto source = fixtures::in_pieces(text, piece);
    ASSERT_TRUE(replay_chrome(*source, collector).ok());
    ASSERT_EQ(collector.rows.size(), whole.rows.size());
    for (std::size_t row = 0; row < whole.rows.size(); ++row) {
      ASSERT_EQ(collector.rows[row].members, whole.rows[row].members);
    }
  }
}

TEST(Replay, FailsWhereTheSourceDoes) {
  const std::string text = random_trace(5, 3000).text();
  Collector collector;
  fixtures::FailingSource source(text, text.size() / 2);
  const bool first_pass_fails = [&] {
    fixtures::FailingSource again(text, text.size() / 2);
    return !read_chrome(again, {.threads = 1}).ok();
  }();
  EXPECT_EQ(!replay_chrome(source, collector).ok(), first_pass_fails);
  const auto nothing = io::memory_source("{}");
  EXPECT_FALSE(replay_chrome(*nothing, collector).ok());
}

}  // namespace
}  // namespace tbtrace::readers
