#include "chrome/plugin/rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/converted.h"
#include "fixtures/document_rows.h"
#include "fixtures/failing_sink.h"
#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"

namespace tbtrace::chrome {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::converted;
using fixtures::Converted;
using fixtures::document_rows;
using fixtures::in_quotes;
using fixtures::Layout;
using fixtures::op;
using fixtures::trace_text;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

std::string only_row(const std::vector<ChromeEvent>& events, Dialect dialect = Dialect::plugin) {
  const std::vector<std::string> all = document_rows(converted(trace_text(events), dialect).text);
  EXPECT_EQ(all.size(), 1u);
  return all.empty() ? "" : all[0];
}

ChromeEvent kernel() {
  return op("gemm").with("cat", "\"kernel\"").with("pid", "0").with("tid", "7");
}

TEST(PluginRows, KeepsWhatItDoesNotKnow) {
  const ChromeEvent event = op("a")
                                .with("s", "\"t\"")
                                .with("tts", "5.5")
                                .with("id", "9")
                                .arg("External id", "4")
                                .arg("own", "{\"a\": [1, null], \"b\": true}")
                                .arg("Sequence number", "7")
                                .arg("Input Dims", "[[1, 2], []]")
                                .arg("Trace name", "\"t\"");
  EXPECT_EQ(only_row({event}),
            R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":10,)"
            R"("dur":5,"s":"t","tts":5.5,"id":9,"args":{"External id":4,)"
            R"("own":{"a":[1,null],"b":true},"Sequence number":7,"Input Dims":[[1,2],[]],)"
            R"("Trace name":"t"}})");
}

TEST(PluginRows, MeansTheSameInEveryLayout) {
  ChromeText trace;
  trace.before.emplace_back("deviceProperties", "[{\"id\": 0, \"name\": \"A\"}]");
  trace.events = {op("a\\\"b").arg("own", "\"text, \\\"quoted\\\"\"").arg("External id", "3"),
                  op("l", "11", "1").with("cat", "\"cuda_runtime\"").arg("correlation", "5"),
                  kernel().arg("correlation", "5").arg("grid", "[1, 2, 3]").arg("stream", "7"),
                  op("[memory]").with("ph", "\"i\"").without("dur").arg("Bytes", "8")};
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    const Converted expected = converted(trace.text(), dialect);
    for (const Layout layout : fixtures::kAllLayouts) {
      EXPECT_EQ(converted(trace.text(layout), dialect).text, expected.text);
    }
  }
}

TEST(PluginRows, ReadsItsOwnOutputToTheSame) {
  ChromeText trace;
  trace.events = {op("a").arg("External id", "3").arg("Call stack", "\"f;g\""),
                  op("b", "12", "9").with("cat", "\"user_annotation\""),
                  op("l", "11", "1").with("cat", "\"cuda_runtime\"").arg("correlation", "5"),
                  kernel().with("ts", "40").arg("correlation", "5")};
  for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
    const std::string once = converted(trace.text(), dialect).text;
    EXPECT_EQ(fixtures::describe(fixtures::read(converted(once, dialect).text)),
              fixtures::describe(fixtures::read(once)));
  }
}

TEST(PluginRows, KeepsNamesOfWritersThatEscapeNothing) {
  ChromeText trace;
  trace.events = {op("a"), op(R"(say "hi", C:\new)").arg("own", R"("a"b")")};
  const Converted all = converted(trace.text(Layout::kineto_lines));
  EXPECT_THAT(all.text, HasSubstr(R"("name":"say \"hi\", C:\\new")"));
  EXPECT_THAT(all.text, HasSubstr(R"("own":"a\"b")"));
}

TEST(PluginRows, ReplacesBytesThatAreNoUtf8) {
  const std::string text =
      trace_text({op("a\xff").with("s\xff", "\"\xfe\"").arg("k\xff", "\"v\xff\"")});
  const Converted all = converted(text);
  EXPECT_THAT(all.text, HasSubstr("\"name\":\"a\ufffd\""));
  EXPECT_THAT(all.text, HasSubstr("\"s\ufffd\":\"\ufffd\""));
  EXPECT_THAT(all.text, HasSubstr("\"k\ufffd\":\"v\ufffd\""));
}

TEST(PluginRows, KeepsValuesThatAreNoJsonAsTexts) {
  const Converted all = converted(trace_text({op("a")
                                                  .with("x", "Infinity")
                                                  .arg("nan", "NaN")
                                                  .arg("list", "[1,]")
                                                  .arg("plus", "+1")
                                                  .arg("dims", "[NaN, 1]")
                                                  .arg("fine", "-1.5e3")}));
  EXPECT_THAT(all.text, HasSubstr(R"("x":"Infinity")"));
  EXPECT_THAT(all.text, HasSubstr(R"("nan":"NaN","list":"[1,]","plus":"+1","dims":"[NaN, 1]")"));
  EXPECT_THAT(all.text, HasSubstr(R"("fine":-1.5e3)"));
  EXPECT_THAT(all.changes, Contains(Pair("values_quoted", 5)));
}

TEST(PluginRows, LeavesOutNumbersThatAreNone) {
  const Converted all = converted(trace_text({kernel()
                                                  .arg("est. achieved occupancy %", "\"N/A\"")
                                                  .arg("blocks per SM", "Infinity")
                                                  .arg("warps per SM", "NaN")
                                                  .arg("shared memory", "null")
                                                  .arg("registers per thread", "32")}));
  EXPECT_THAT(all.text, Not(HasSubstr("occupancy")));
  EXPECT_THAT(all.text, Not(HasSubstr("per SM")));
  EXPECT_THAT(all.text, Not(HasSubstr("shared memory")));
  EXPECT_THAT(all.text, HasSubstr("\"registers per thread\":32"));
  EXPECT_THAT(all.changes, Contains(Pair("values_left_out", 3))) << "null says nothing";
}

TEST(PluginRows, TakesTheLastOfAKeyThatIsRepeated) {
  const std::string text =
      R"([{"ph":"X","name":"a","ts":1,"dur":2,"args":{"External id":1,"own":1,"Call stack":"f",)"
      R"("own":2,"External id":5,"Call stack":"g"}}])";
  const std::string row = document_rows(converted(text).text)[0];
  EXPECT_THAT(row, EndsWith(R"("args":{"External id":5,"own":2,"Call stack":"g"}})"));
}

TEST(PluginRows, CountsCopiedMembersWithTextsThatAreNone) {
  const auto converted_with = [](std::string_view key, std::string_view value) {
    return converted(
        trace_text({op("a").arg(key, value).arg("own", R"(["\ud83d\ude00", "\ufffd"])")}));
  };
  for (const auto& [key, value] : {std::pair{"x", R"("a\ud800")"},
                                   {"x", R"(["\udc00b"])"},
                                   {"x", R"({"\ud800": 1})"},
                                   {R"(\ud800)", "1"}}) {
    const Converted all = converted_with(key, value);
    EXPECT_THAT(all.changes, Contains(Pair("texts_repaired", 1))) << key << value;
    EXPECT_THAT(only_row({op("a").arg(key, value)}), HasSubstr("\ufffd"));
  }
  EXPECT_EQ(converted_with("x", R"("\ud83d\ude00")").changes.count("texts_repaired"), 0u);
}

TEST(PluginRows, CopiesArgsThatAreNotAnObject) {
  for (const std::string_view args : {"null", "[1]", "\"important text\"", "5"}) {
    const std::string member = ",\"args\":" + std::string(args) + "}";
    const ChromeEvent counter = op("a").with("args", args).with("ph", "\"C\"");
    const ChromeEvent label =
        op("process_name").with("args", args).with("ph", "\"M\"").without("dur");
    for (const ChromeEvent& event : {counter, label}) {
      const Converted all = converted(trace_text({event}));
      EXPECT_THAT(document_rows(all.text), Contains(EndsWith(member)));
      EXPECT_EQ(all.changes.count("args_left_out"), 0u);
    }
  }
  const ChromeEvent empty = op("a").with("args", "{}").with("cat", "\"overhead\"");
  EXPECT_THAT(only_row({empty}), Not(HasSubstr("args")));
  const ChromeEvent last_is_object =
      op("a").with("args", "[1]").arg("own", "1").with("cat", "\"overhead\"");
  EXPECT_THAT(only_row({last_is_object}), EndsWith(R"("args":{"own":1}})"));
}

TEST(PluginRows, CountsArgsThatAreNotAnObjectWhereTheyCannotBeCopied) {
  const ChromeEvent overhead = op("a").with("cat", "\"overhead\"");
  const ChromeEvent memory = op("[memory]").with("ph", "\"i\"").without("dur");
  const ChromeEvent begin = op("b").with("ph", "\"B\"").without("dur");
  const ChromeEvent end = op("b", "20").with("ph", "\"E\"").without("dur");
  const auto changes = [](ChromeEvent event, std::string_view args) {
    return converted(trace_text({event.with("args", args)})).changes;
  };
  // The operator and the memory record get arguments, and the plugin fails at others than objects.
  EXPECT_THAT(changes(op("a"), "[1]"), Contains(Pair("args_left_out", 1)));
  EXPECT_THAT(changes(memory, "[1]"), Contains(Pair("args_left_out", 1)));
  EXPECT_THAT(changes(overhead, "[1]"), Contains(Pair("args_left_out", 1)));
  EXPECT_EQ(changes(overhead, "null").count("args_left_out"), 0u) << "null says nothing";
  const std::string pair = trace_text({begin, ChromeEvent(end).with("args", "\"x\"")});
  EXPECT_THAT(converted(pair).changes, Contains(Pair("end_arguments_left_out", 1)));
}

TEST(PluginRows, WritesTheDeviceOfWorkAnew) {
  ChromeText trace;
  trace.before.emplace_back("deviceProperties", "[{\"id\": 0}]");
  trace.events = {kernel().with("pid", "5").arg("device", "5").arg("context", "1"),
                  op("a").arg("device", "5")};
  const std::vector<std::string> all = document_rows(converted(trace.text()).text);
  EXPECT_THAT(all[0], HasSubstr(R"("pid":0,)"));
  EXPECT_THAT(all[0], HasSubstr(R"("device":0,"context":1)"));
  EXPECT_THAT(all[1], HasSubstr(R"("device":5)")) << "of an operator it means something else";
}

TEST(PluginRows, WritesMemoryForThePlugin) {
  ChromeEvent memory = op("[memory]").with("ph", "\"i\"").with("s", "\"g\"").without("dur");
  memory.arg("Device Type", "20").arg("Device Id", "3").arg("Bytes", "-64");
  memory.arg("Addr", "\"0x7f\"").arg("Total Allocated", "128").arg("Total Reserved", "NaN");
  memory.arg("Ev Idx", "3").with("tts", "5");
  const Converted all = converted(trace_text({memory}));
  EXPECT_THAT(
      document_rows(all.text)[0],
      EndsWith(
          R"("s":"t","ts":10,"tts":5,"args":{"Device Type":1,"c10 Device Type":20,"Device Id":3,"Bytes":-64,)"
          R"("Total Allocated":128,"Ev Idx":3}})"));
  EXPECT_THAT(all.changes, Contains(Pair("values_left_out", 2)));
  const ChromeEvent with_length =
      op("[memory]").with("cat", "\"cpu_instant_event\"").arg("Bytes", "8");
  EXPECT_THAT(only_row({with_length}), HasSubstr(R"({"ph":"i","name":"[memory]")"));
  EXPECT_THAT(only_row({with_length}), Not(HasSubstr("dur")));
}

TEST(PluginRows, KeepsRowsOfOtherPhases) {
  const auto row = [](std::string_view phase) {
    return op("count").with("ph", in_quotes(phase)).without("dur").arg("value", "3");
  };
  for (const std::string_view phase : {"C", "i", "t", "n"}) {
    EXPECT_THAT(only_row({row(phase)}), HasSubstr(R"({"ph":")" + std::string(phase) +
                                                  R"(","name":"count","pid":1,"tid":1,"ts":)"));
    EXPECT_THAT(only_row({row(phase)}), HasSubstr(R"("cat":"cpu_op","args":{"value":3})"));
  }
}

TEST(PluginRows, WritesAPairOfEventsAsOneRange) {
  const auto begin = op("a", "5").with("ph", "\"B\"").without("dur").arg("own", "1");
  const auto end = op("a", "9.5").with("ph", "\"E\"").without("dur");
  EXPECT_THAT(only_row({begin, end}), HasSubstr(R"({"ph":"X","cat":"cpu_op","name":"a",)"));
  EXPECT_THAT(only_row({begin, end}), HasSubstr(R"("dur":4.5,)"));
  EXPECT_THAT(only_row({begin, end}), HasSubstr(R"("own":1)"));
}

TEST(PluginRows, KeepsPairsWithTheNameOfMemoryRecordsAsRanges) {
  const Converted all =
      converted(R"([{"ph":"B","name":"[memory]","cat":"cpu_instant_event","pid":1,"tid":1,"ts":1},)"
                R"({"ph":"E","pid":1,"tid":1,"ts":3}])");
  EXPECT_THAT(document_rows(all.text),
              ElementsAre(HasSubstr(R"("ph":"X","cat":"annotation","name":"[memory]")")));
  EXPECT_THAT(all.changes, ElementsAre(Pair("ranges_like_memory", 1)));
}

TEST(PluginRows, CountsArgumentsOfEndsThatItLeavesOut) {
  const auto begin = op("a", "5").with("ph", "\"B\"").without("dur");
  const auto end = op("a", "9.5").with("ph", "\"E\"").without("dur");
  EXPECT_EQ(converted(trace_text({begin, end})).changes.count("end_arguments_left_out"), 0u);
  auto with_arguments = end;
  with_arguments.arg("own", "2");
  const Converted all = converted(trace_text({begin, with_arguments, begin, end}));
  EXPECT_THAT(all.changes, Contains(Pair("end_arguments_left_out", 1)));
  EXPECT_THAT(all.text, Not(HasSubstr("own")));
}

TEST(PluginRows, GivesEveryRowAName) {
  ChromeEvent instant = op("x").with("ph", "\"i\"").without("name").without("dur");
  EXPECT_THAT(only_row({instant}), HasSubstr(R"("name":"")"));
  EXPECT_THAT(only_row({instant.with("name", "5")}), HasSubstr(R"("name":"5")"));
  EXPECT_THAT(only_row({instant.with("name", "null")}), HasSubstr(R"("name":"")"));
}

TEST(PluginRows, MakesArrowsAnewAndKeepsThoseOfOthers) {
  const auto arrow = [](std::string_view phase, std::string_view category) {
    return op("arrow")
        .with("ph", in_quotes(phase))
        .with("cat", in_quotes(category))
        .with("id", "4");
  };
  for (const std::string_view category : {"ac2g", "fwdbwd", "forward_backward", "async_gpu"}) {
    EXPECT_THAT(document_rows(converted(trace_text({arrow("s", category)})).text), IsEmpty());
  }
  EXPECT_THAT(only_row({arrow("s", "mine")}), HasSubstr(R"("cat":"mine","dur":5,"id":4)"));
}

TEST(PluginRows, MovesLabelsWithTheirTracks) {
  ChromeEvent label = op("process_name").with("ph", "\"M\"").with("pid", "-1").with("tid", "-2");
  label.without("dur").without("cat").with("ts", "0").arg("name", "\"mine\"");
  const std::vector<std::string> all = document_rows(
      converted(trace_text({label, op("a", "5000").with("pid", "-1").with("tid", "-2")})).text);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_THAT(all[0], HasSubstr(R"("ph":"M","name":"process_name","pid":1000000000,)"));
  EXPECT_THAT(all[0], HasSubstr(R"("ts":0,)")) << "labels do not start before the trace";
  EXPECT_THAT(all[1], HasSubstr(R"("pid":1000000000,)"));
  EXPECT_THAT(all[2], HasSubstr(R"("name":"thread_name","pid":1000000000,)"));
}

TEST(PluginRows, WritesInputsOfCollectivesThatThePluginCanMultiply) {
  ChromeEvent collective = op("nccl:all_reduce").with("cat", "\"user_annotation\"");
  collective.arg("Input Dims", "[[4, 4], [[1], [2]], [3], [5]]");
  collective.arg("Input type", R"(["float", "TensorList", "complex", "c10::Half"])");
  EXPECT_THAT(only_row({collective}),
              HasSubstr(R"("Input Dims":[[4,4],[5]],"Input type":["float","c10::Half"])"));
  EXPECT_THAT(only_row({collective}, Dialect::kineto),
              HasSubstr(R"("Input Dims":[[4,4],[[1],[2]],[3],[5]])"));
}

TEST(PluginRows, CountsEachChangeOnceWhateverTheThreads) {
  // Names and arguments look like events, so that blocks may be cut within them.
  ChromeText trace;
  for (int row = 0; row < 9000; ++row) {
    ChromeEvent event = op(row % 3 == 0 ? "},{\\\"ph\\\"" : "a").arg("nan", "NaN");
    if (row % 5 == 0) event.arg("list", R"([{"a": 1},{"ph": "X"},{"ph": "X"}])");
    trace.events.push_back(event);
  }
  const std::string sound = trace.text();
  std::string damaged = sound;
  damaged.insert(damaged.size() / 2, "\"" + std::string(700'000, ' '));
  for (const std::string& text : {sound, damaged}) {
    const Converted one = converted(text);
    std::uint64_t quoted = 0;
    for (const std::string& row : document_rows(one.text))
      quoted += row.find("\"NaN\"") != row.npos ? 1 : 0;
    EXPECT_EQ(one.changes.at("values_quoted"), quoted);
    const Trace whole = fixtures::read(text);
    EXPECT_EQ(quoted, whole.events().size());
    for (const int threads : {2, 3, 8}) {
      const Converted several = converted(text, Dialect::plugin, false, threads);
      EXPECT_EQ(fixtures::first_difference(one.text, several.text), "") << threads << " threads";
      EXPECT_EQ(one.changes, several.changes) << threads << " threads";
    }
  }
}

TEST(PluginRows, TellsWhereTheSinkFails) {
  ChromeText trace;
  for (int row = 0; row < 9000; ++row) trace.events.push_back(op("a").arg("own", "\"text\""));
  const std::string text = trace.text();
  const readers::Reading reading = fixtures::read_blocks(text);
  const std::size_t size = converted(text).text.size();
  for (const int threads : {1, 3}) {
    for (const std::size_t room : {std::size_t{0}, size / 2, size - 1}) {
      fixtures::SinkLog log;
      fixtures::FailingSink sink(log, room);
      Changes changes;
      const Status status =
          fixtures::convert(reading, text, Dialect::plugin, false, threads, sink, changes);
      EXPECT_EQ(status.message(), "the disk is full");
      EXPECT_EQ(log.writes_after_failure, 0);
      EXPECT_EQ(log.closes, 0);
    }
  }
}

TEST(PluginRows, ShortensShadowsOfAnnotationsOnce) {
  // 0.32 us + 0.02 us is a little more than 0.24 us + 0.1 us.
  const std::string text =
      trace_text({op("inner", "0.32", "0.02").with("cat", "\"gpu_user_annotation\""),
                  op("outer", "0.24", "0.1").with("cat", "\"gpu_user_annotation\"")});
  const Converted once = converted(text);
  EXPECT_THAT(once.changes, Contains(Pair("ranges_shortened", 1)));
  EXPECT_THAT(document_rows(once.text), Contains(HasSubstr(R"("ts":0.32,"dur":0.019)")));
  const Converted twice = converted(once.text);
  EXPECT_THAT(twice.changes, Not(Contains(Pair("ranges_shortened", testing::_))));
  EXPECT_THAT(document_rows(twice.text), Contains(HasSubstr(R"("ts":0.32,"dur":0.019)")));
}

TEST(PluginRows, TakesWhateverStandsInARow) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(500u); ++seed) {
    fixtures::RandomJson random(seed);
    std::string text = "{\"own\":" + random.value(3) + ",\"traceEvents\":[";
    for (int row = 0; row < 8; ++row) {
      if (row > 0) text += ',';
      text += "{" + random.blanks();
      text += R"("ph":"X","name":)" + random.string();
      text += R"(,"ts":)" + std::to_string(row) + "," + random.string();
      text += ":" + random.value(3);
      text += ",\"args\":" + random.object(3) + "}";
    }
    text += "]}";
    const Trace before = fixtures::read(text);
    for (const Dialect dialect : {Dialect::plugin, Dialect::kineto}) {
      SCOPED_TRACE(seed);
      const Trace after = fixtures::read(converted(text, dialect).text);
      ASSERT_EQ(fixtures::names(after), fixtures::names(before));
      std::string own;
      ASSERT_TRUE(wire::append_strict_json(own, before.metadata().at("own"), true));
      EXPECT_EQ(after.metadata().at("own"), own);
    }
  }
}

TEST(PluginRows, WritesNumbersInQuotesAsNumbersWhereConsumersCalculateWithThem) {
  const Converted all =
      converted(trace_text({kernel().arg("stream", "\"7\"").arg("own", "\"7\"")}));
  EXPECT_THAT(all.text, HasSubstr("\"stream\":7,\"own\":\"7\""));
  EXPECT_EQ(all.changes.count("values_left_out"), 0u);
}

TEST(PluginRows, TakesTheLastOfAnUnknownKeyThatIsRepeated) {
  const std::string start = R"([{"ph":"X","cat":"overhead","name":"a","ts":1,"dur":2,)";
  const auto row = [&](const std::string& rest) {
    return document_rows(converted(start + rest + "}]", Dialect::kineto).text)[0];
  };
  EXPECT_THAT(row(R"("z":1,"y":0,"z":2)"), EndsWith(R"("dur":2,"y":0,"z":2})"));
  EXPECT_THAT(row(R"("z":1,"\u007a":2)"), EndsWith(R"("dur":2,"z":2})")) << "the same, escaped";
  EXPECT_THAT(row(R"("args":{"z":1,"y":0,"z":2})"), EndsWith(R"("args":{"y":0,"z":2}})"));
  std::string many;
  for (int key = 0; key < 50; ++key) many += "\"k" + std::to_string(key % 25) + "\":1,";
  EXPECT_THAT(row(many + R"("k3":2)"), EndsWith(R"("k24":1,"k3":2})"));
}

TEST(PluginRows, TakesManyArgumentsOfWhichOneIsRepeated) {
  // A search among all later arguments for each one would take minutes.
  std::string text = R"([{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":2,"args":{"stream":1)";
  for (int key = 0; key < 600'000; ++key) text += ",\"k" + std::to_string(key) + "\":1";
  const std::string row = document_rows(converted(text + R"(,"stream":2}}])").text)[0];
  EXPECT_THAT(row, EndsWith(R"("k599999":1,"stream":2}})"));
  EXPECT_THAT(row, Not(HasSubstr("\"stream\":1")));
}

}  // namespace
}  // namespace tbtrace::chrome
