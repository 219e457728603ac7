// The second pass over a file sees the same ranges as the first, under the same numbers.
#include "readers/chrome/replay.h"

#include <algorithm>
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

#include "fixtures/chrome_text.h"
#include "fixtures/failing_source.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/replayed.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::Layout;
using fixtures::op;
using fixtures::random_rounds;
using fixtures::read_blocks;
using fixtures::replayed;
using fixtures::ReplayedRow;
using fixtures::RowCollector;
using fixtures::trace_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string json_of(std::string_view text) {
  std::string json;
  wire::append_json_string(json, text);
  return json;
}

/// Every range of the trace once, in order, with the same name.
void expect_same_ranges(std::string_view text, int threads = 1, BlockSize block = {}) {
  const Trace trace = fixtures::read(text, {.threads = threads}, block);
  std::size_t next = 0;
  for (const ReplayedRow& row : replayed(text, threads, block)) {
    if (row.kind != RowKind::range) continue;
    ASSERT_EQ(index(row.range), next);
    ASSERT_LT(next, trace.events().size());
    std::string name;
    for (const std::string& member : row.members) {  // the last one counts
      if (member.starts_with("name=")) name = member.substr(5);
    }
    if (!name.starts_with('"')) name = json_of(name);  // not what JSON has, so it is as it stands
    ASSERT_EQ(name, json_of(trace.name(row.range)));
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
  switch (random() % 13) {
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
    case 10:
      return event.with("ph", "\"E\"").without("name");
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
      expect_same_ranges(trace.text(layout), 1 + static_cast<int>(seed % 3));
    }
    expect_same_ranges(fixtures::array_text(trace.events, Layout::event_a_line));
  }
}

TEST(Replay, GivesTheSameRowsWhateverTheThreads) {
  const ChromeText trace = random_trace(1, 12'000);
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    ASSERT_GT(text.size(), 4u * 256 * 1024);
    expect_same_ranges(text, 3);
    const std::vector<ReplayedRow> expected = replayed(text, 1);
    for (const int threads : {0, 2, 8}) EXPECT_EQ(replayed(text, threads), expected) << threads;
  }
}

TEST(Replay, GivesRangesTheirNumbersInFilesThatWereCut) {
  const std::string text = random_trace(2, 40).text(Layout::event_a_line);
  for (std::size_t size = text.find("traceEvents") + 16; size < text.size(); size += 7) {
    if (!fixtures::try_read(text.substr(0, size)).ok()) continue;
    SCOPED_TRACE(size);
    expect_same_ranges(text.substr(0, size));
  }
  const std::string large = random_trace(3, 9000).text();
  for (const std::size_t size : {large.size() - 1, large.size() / 2, large.size() / 3}) {
    expect_same_ranges(large.substr(0, size), 2);
  }
}

TEST(Replay, GivesRangesTheirNumbersInDamagedFiles) {
  for (unsigned seed = 0; seed < random_rounds(300u); ++seed) {
    std::mt19937 random(seed);
    const bool large = seed % 60 == 0;
    const Layout layout = fixtures::kAllLayouts[seed % 6];
    std::string text = random_trace(seed, large ? 9000 : 40).text(layout);
    for (int change = large ? 40 : 4; change > 0; --change) {
      text[100 + random() % (text.size() - 100)] = "\"{}[],:\\\xff\n0x"[random() % 12];
    }
    if (!fixtures::try_read(text).ok()) continue;
    SCOPED_TRACE(seed);
    expect_same_ranges(text, large ? 2 : 1, {large ? std::size_t{4096} : 64});
    EXPECT_EQ(replayed(text, 3), replayed(text, 1));
  }
}

TEST(Replay, GivesRangesTheirNumbersWhereAnArgumentHasNoValue) {
  for (const ArgumentRow& argument : kArgumentRows) {
    for (const std::string_view value : {"\x13", "\"a\" b"}) {
      std::string text = trace_text({op("a"), op("b").arg(argument.keys[0], value), op("c")});
      expect_same_ranges(text);
      expect_same_ranges(text.substr(0, text.rfind("]")));
    }
  }
}

TEST(Replay, GivesRangesTheirNumbersWhereTheLastTextIsNotClosed) {
  for (const Layout layout : fixtures::kAllLayouts) {
    std::string text = trace_text({op("a"), op("b")}, layout);
    text.erase(text.rfind(']'));
    for (const std::string_view last :
         {R"({"ph":B"})", R"({"ph":"X", "ts": 2, "name":c"})", R"({"ph":"X", "ts": 2, "name":""})",
          "{\"ph\":X,\n\"name\":\"\"}"}) {
      for (const std::string_view end : {"", ",", ",,", ",{", R"(,,{"ph":"X")", R"(,{"ph":"X)"}) {
        const std::string whole = text + "," + std::string(last) + std::string(end);
        SCOPED_TRACE(whole);
        expect_same_ranges(whole);
      }
    }
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
  for (const int threads : {1, 3}) expect_same_ranges(text, threads);
}

TEST(Replay, GivesRangesTheirNumbersWhateverElseIsInThePiece) {
  // Of these, only the scanner knows what they are; a phase without quotes it does not take.
  for (const std::string& unusual :
       {std::string("\"text\""), std::string("5"), std::string("[{}]"),
        fixtures::event_text(op("},{\\\"ph\\\":\\\"X\\\""), Layout::minified)}) {
    std::string text = "[" + unusual;
    for (int row = 0; row < 20; ++row) {
      text += "," + fixtures::event_text(op(std::to_string(row)), Layout::minified);
    }
    text += R"(,{"ph":X,"name":"last","pid":1,"tid":1,"ts":1}])";
    for (const std::size_t bytes : {64, 100, 300, 1000, 4096}) {
      SCOPED_TRACE(unusual + " in pieces of " + std::to_string(bytes));
      EXPECT_TRUE(read_blocks(text, {.threads = 1}, {bytes}).blocks.is_sound());
      expect_same_ranges(text, 1, {bytes});
    }
  }
}

TEST(Replay, GivesOnlyTheLastOfTwoArraysOfEvents) {
  const ChromeText first = random_trace(6, 3000);
  const ChromeText second = random_trace(7, 3000);
  const std::string last = fixtures::array_text(second.events, Layout::minified);
  const std::string start =
      "{\"traceEvents\":" + fixtures::array_text(first.events, Layout::minified);
  const std::vector<ReplayedRow> expected = replayed("{\"traceEvents\":" + last + "}");
  for (const int threads : {1, 2, 8}) {
    EXPECT_EQ(replayed(start + ",\"traceEvents\":" + last + "}", threads), expected);
    // In a damaged file as well, which is replayed as a whole.
    EXPECT_EQ(
        replayed(start.substr(0, start.size() - 1) + ",@],\"traceEvents\":" + last + "}", threads),
        expected);
  }
}

TEST(Replay, GivesAllMembersInTheirOrder) {
  const std::string text =
      R"([{"ph":"X","zzz":[1, {"a":2}],"name":"a","cat":"c","x\"y":"v\n","ts":1,"args":)"
      R"({"External id":5,"own":null,"s":"t","n":{"args":{}},"External id":6},"dur":2,"bp":NaN}])";
  const std::vector<ReplayedRow> rows = replayed(text);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].members,
              ElementsAre("ph=\"X\"", "zzz=[1, {\"a\":2}]", "name=\"a\"", "cat=\"c\"",
                          "x\"y=\"v\\n\"", "ts=1", "args=", "dur=2", "bp=NaN"));
  EXPECT_THAT(rows[0].arguments, ElementsAre("External id=5", "own=null", "s=\"t\"",
                                             "n={\"args\":{}}", "External id=6"));
}

TEST(Replay, GivesTheSameMembersInEveryLayout) {
  ChromeText trace;
  trace.events = {op("a").arg("first", "1").arg("own", "\"text\"").with("s", "\"t\""),
                  op("b").arg("grid", "[1, 2, 3]").arg("Call stack", "\"a;b\"")};
  const std::vector<ReplayedRow> expected = replayed(trace.text());
  ASSERT_EQ(expected.size(), 2u);
  for (const Layout layout : fixtures::kAllLayouts) {
    EXPECT_EQ(replayed(trace.text(layout)), expected);
  }
}

TEST(Replay, DoesNotMixTheMembersOfEvents) {
  const std::vector<ReplayedRow> rows =
      replayed(R"([{"ph":"X","name":"a","ts":1,"args":{"k":1}},)"
               R"({"ph":"X","name":"b","ts":1,"args":[{"l":2}]},{"ph":"i"}])");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0].arguments, ElementsAre("k=1"));
  EXPECT_THAT(rows[1].arguments, IsEmpty());
  EXPECT_THAT(rows[1].members, ElementsAre("ph=\"X\"", "name=\"b\"", "ts=1", "args=[{\"l\":2}]"));
  EXPECT_THAT(rows[2].members, ElementsAre("ph=\"i\""));
}

TEST(Replay, GivesTheLastOfRepeatedArguments) {
  const std::vector<ReplayedRow> rows =
      replayed(R"([{"ph":"X","name":"a","ts":1,"args":{"k":1},"args":{"l":2}}])");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0].arguments, ElementsAre("l=2"));
}

TEST(Replay, LeavesOutWhatTheModelLeftOut) {
  ChromeText trace;
  trace.events = {op("no time", "\"x\""), op("ok"),
                  op("").without("name"), op("no phase").without("ph"),
                  op("far", "1", "9e18"), op("negative", "1", "-1")};
  const std::vector<ReplayedRow> rows = replayed(trace.text());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].member("name"), "\"ok\"");
  EXPECT_EQ(index(rows[0].range), 0u);
  EXPECT_EQ(rows[1].member("name"), "\"negative\"");
  EXPECT_EQ(index(rows[1].range), 1u);
}

TEST(Replay, TellsTheKindsOfRows) {
  ChromeText trace;
  trace.events = {op("a"),
                  instant("[memory]"),
                  instant("other"),
                  op("b").with("ph", "\"s\"").with("cat", "\"ac2g\"").with("id", "1"),
                  op("c").with("ph", "\"s\"").with("cat", "\"mine\""),
                  op("d").with("ph", "\"M\""),
                  op("e").with("ph", "\"C\""),
                  op("e").with("ph", "\"b\""),
                  op("f").with("ph", "\"B\""),
                  op("g").with("ph", "\"E\"")};
  std::vector<RowKind> kinds;
  for (const ReplayedRow& row : replayed(trace.text())) kinds.push_back(row.kind);
  EXPECT_THAT(kinds, ElementsAre(RowKind::range, RowKind::memory, RowKind::instant, RowKind::flow,
                                 RowKind::instant, RowKind::label, RowKind::instant,
                                 RowKind::unsupported, RowKind::range, RowKind::range_end));
}

TEST(Replay, LeavesOutFlowEventsIfAsked) {
  ChromeText trace;
  trace.events = {op("a").arg("own", "1"),
                  op("x").with("ph", "\"s\"").with("cat", "\"ac2g\"").with("id", "7"),
                  op("b").arg("own", "2")};
  for (const std::string& text : {trace.text(), trace.text() + "}"}) {  // sound, and damaged
    const Reading reading = read_blocks(text);
    std::vector<std::vector<std::string>> members[2];
    for (const bool wants_flows : {false, true}) {
      RowCollector collector;
      collector.wants_flows = wants_flows;
      const auto source = io::memory_source(text);
      ASSERT_TRUE(replay_chrome(*source, reading.blocks, collector, 1).ok());
      for (const ReplayedRow& row : collector.rows) {
        EXPECT_TRUE(wants_flows || row.kind != RowKind::flow);
        if (row.kind != RowKind::flow) members[wants_flows ? 1 : 0].push_back(row.arguments);
      }
      EXPECT_EQ(collector.rows.size(), wants_flows ? 3u : 2u);
    }
    EXPECT_EQ(members[0], members[1]);
  }
}

TEST(Replay, LeavesOutMembersIfAsked) {
  ChromeText trace;
  trace.events = {op("a").with("own", "1").arg("External id", "2").arg("kept", "3"),
                  op("x").with("ph", "\"i\"").arg("External id", "4"), op("b").with("args", "5")};
  for (const std::string& text : {trace.text(), trace.text() + "}"}) {  // sound, and damaged
    const Reading reading = read_blocks(text);
    RowCollector collector;
    collector.unwanted = {
        .fields = LeftOutMembers::bit(EventField::phase) | LeftOutMembers::bit(EventField::name),
        .range_fields = LeftOutMembers::bit(EventField::duration),
        .range_arguments = {Argument::external_id}};
    const auto source = io::memory_source(text);
    ASSERT_TRUE(replay_chrome(*source, reading.blocks, collector, 1).ok());
    ASSERT_EQ(collector.rows.size(), 3u);
    for (const ReplayedRow& row : collector.rows) {
      EXPECT_EQ(row.member("ph"), "");
      EXPECT_EQ(row.member("name"), "");
      EXPECT_NE(row.member("ts"), "");
      EXPECT_EQ(row.member("dur").empty(), row.kind == RowKind::range);
    }
    EXPECT_EQ(collector.rows[0].member("own"), "1");
    EXPECT_THAT(collector.rows[0].arguments, ElementsAre("kept=3"));
    EXPECT_THAT(collector.rows[1].arguments, ElementsAre("External id=4"));
    EXPECT_EQ(collector.rows[2].member("args"), "5");
  }
}

TEST(Replay, DropsTheSameRangesForTheirTimes) {
  ChromeText trace;
  trace.events = {op("a"), op("b", "\"soon\""), op("c")};
  EXPECT_FALSE(read_blocks(trace.text()).blocks.times_are_sound);
  expect_same_ranges(trace.text());
  trace.events.erase(trace.events.begin() + 1);
  EXPECT_TRUE(read_blocks(trace.text()).blocks.times_are_sound);
  expect_same_ranges(trace.text());
}

TEST(Replay, DoesNotDependOnHowTheBytesArrive) {
  const std::string text = random_trace(4, 3000).text(Layout::kineto_lines);
  const Reading reading = read_blocks(text);
  const std::vector<ReplayedRow> whole = replayed(text);
  for (const std::size_t piece : {37u, 4097u, 131'071u}) {
    RowCollector collector;
    const auto source = fixtures::in_pieces(text, piece);
    ASSERT_TRUE(replay_chrome(*source, reading.blocks, collector, 2).ok());
    EXPECT_EQ(collector.rows, whole);
  }
}

TEST(Replay, EndsAtTheFirstBlockThatCannotBeFinished) {
  const std::string sound = random_trace(5, 9000).text();
  std::string damaged = sound;
  damaged.insert(damaged.find(",{"), ",@@@");
  for (const std::string& text : {sound, damaged}) {
    const Reading reading = read_blocks(text);
    for (const int threads : {1, 2, 8}) {
      for (const std::size_t fail_at : {0u, 1u}) {
        RowCollector collector(fail_at);
        const auto source = io::memory_source(text);
        const Status status = replay_chrome(*source, reading.blocks, collector, threads);
        EXPECT_EQ(status.message(), "the disk is full");
        EXPECT_EQ(collector.blocks, fail_at);
      }
    }
  }
}

/// What a second pass says of a text that is not the one of the first.
Status status_of_changed(const Reading& reading, std::string_view changed, int threads) {
  RowCollector collector;
  const auto source = io::memory_source(changed);
  return replay_chrome(*source, reading.blocks, collector, threads);
}

TEST(Replay, FailsOnASourceThatBecameShorter) {
  const std::string text = random_trace(5, 9000).text();
  const Reading reading = read_blocks(text);
  const auto end = static_cast<std::size_t>(reading.blocks.end_offset());
  for (const int threads : {1, 2, 8}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{20}, end / 3, end / 2, end - 1}) {
      const Status status =
          status_of_changed(reading, std::string_view(text).substr(0, size), threads);
      EXPECT_EQ(status.code(), StatusCode::unreadable_input) << size;
      EXPECT_THAT(status.message(), HasSubstr("was written to while it was read"));
    }
  }
}

TEST(Replay, FailsOnASourceInWhichEventsMoved) {
  const std::string text = random_trace(5, 9000).text();
  const Reading reading = read_blocks(text);
  ASSERT_GT(reading.blocks.blocks().size(), 2u);
  for (const int threads : {1, 2, 8}) {
    for (const std::size_t at : {text.find('[') + 1, text.size() / 2}) {
      std::string longer = text;
      longer.insert(longer.find(",{", at) + 1, R"({"ph":"X","name":"new","ts":1,"dur":1},)");
      EXPECT_FALSE(status_of_changed(reading, longer, threads).ok());
    }
  }
}

TEST(Replay, NeverCrashesOnASourceWithOtherBytes) {
  const std::string text = random_trace(5, 3000).text();
  const Reading reading = read_blocks(text);
  for (unsigned seed = 0; seed < random_rounds(60u); ++seed) {
    std::mt19937 random(seed);
    std::string changed = text;
    for (int change = 0; change < 20; ++change) {
      changed[random() % changed.size()] = "\"{}[],:\\\xff\n0x"[random() % 12];
    }
    if (seed % 3 == 0) changed.resize(random() % changed.size());
    RowCollector collector;
    const auto source = io::memory_source(changed);
    const Status status =
        replay_chrome(*source, reading.blocks, collector, 1 + static_cast<int>(seed % 3));
    const bool is_told = status.ok() || status.code() == StatusCode::unreadable_input;
    EXPECT_TRUE(is_told) << status.message();
    std::size_t next = 0;
    for (const ReplayedRow& row : collector.rows) {
      if (row.kind != RowKind::range) continue;
      ASSERT_EQ(index(row.range), next++);
    }
    EXPECT_LE(next, reading.trace.events().size());
  }
}

TEST(Replay, FailsOnASourceThatBecameDamagedOrWasMended) {
  const std::string text = random_trace(5, 3000).text();
  std::string damaged = text;
  damaged[text.size() / 2] = '\x01';
  damaged[text.find("\"ph\"", text.size() / 2)] = '@';
  EXPECT_FALSE(status_of_changed(read_blocks(text), damaged, 2).ok());
  const Reading of_damaged = read_blocks(damaged);
  const Reading of_text = read_blocks(text);
  if (of_damaged.trace.events().size() != of_text.trace.events().size()) {
    RowCollector collector;
    const auto source = io::memory_source(text);
    // The caller compares the number of ranges then; see chrome::RowDocument::end().
    EXPECT_TRUE(replay_chrome(*source, of_damaged.blocks, collector, 2).ok());
  }
}

TEST(Replay, FailsWhereTheSourceDoes) {
  const std::string text = random_trace(5, 3000).text();
  const Reading reading = read_blocks(text);
  for (const int threads : {1, 3}) {
    RowCollector collector;
    fixtures::FailingSource source(text, text.size() / 2);
    EXPECT_FALSE(replay_chrome(source, reading.blocks, collector, threads).ok());
  }
}

TEST(Replay, GivesRangesTheirNumbersWhereATextEndsAfterAnElementThatIsNotAnEvent) {
  const std::string event = fixtures::event_text(op("a"), Layout::minified);
  for (const std::string element : {"5", "\"s\"", "null", "[1]", "{}", "[1] ", "5\n"}) {
    for (const std::string start : {"[", "{\"traceEvents\":["}) {
      const std::string text = start + event + ", " + element;
      SCOPED_TRACE(text);
      expect_same_ranges(text);
      EXPECT_EQ(replayed(text).size(), 1u);
    }
  }
}

}  // namespace
}  // namespace tbtrace::readers
