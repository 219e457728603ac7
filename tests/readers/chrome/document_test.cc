// The document around the events: members, their order, open ends.
#include "readers/chrome/document.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeText;
using fixtures::describe;
using fixtures::describe_issues;
using fixtures::difference_between;
using fixtures::first_difference;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::op;
using fixtures::read;
using fixtures::read_in_ways;
using fixtures::reading_ways;
using fixtures::try_read;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kEvent = R"({"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1})";

std::string with_event(std::string_view before, std::string_view after) {
  return std::string(before) + std::string(kEvent) + std::string(after);
}

TEST(ChromeDocument, MayBeAnObjectOrABareArray) {
  const Trace object = read(with_event("{\"traceEvents\":[", "]}"));
  const Trace array = read(with_event("[", "]"));
  EXPECT_THAT(names(object), ElementsAre("a"));
  EXPECT_EQ(describe(object), describe(array));
  EXPECT_EQ(issue_counts(object), "");
  EXPECT_EQ(issue_counts(array), "");
}

TEST(ChromeDocument, MayLeaveABareArrayOpen) {
  for (const std::string_view end : {"", ",", " \n", ",\n", "\r\n,\r\n", "]", "]\n", " ] "}) {
    const Trace trace = read(with_event("[\n", end));
    EXPECT_THAT(names(trace), ElementsAre("a")) << end;
    EXPECT_EQ(issue_counts(trace), "") << end;
  }
}

TEST(ChromeDocument, MayNotLeaveAnObjectOpen) {
  for (const std::string_view end : {"", ",", "]", "],", "],\"a\":1", "],\"a\":", "],\"a"}) {
    const Trace trace = read(with_event("{\"traceEvents\":[", end));
    EXPECT_THAT(names(trace), ElementsAre("a")) << end;
    EXPECT_EQ(issue_counts(trace), "input_truncated 1") << end;
  }
}

TEST(ChromeDocument, MayHoldNoEvents) {
  for (const std::string_view text : {"[]", "[ ]", "[", " [\n", "{\"traceEvents\":[]}",
                                      "{\"a\":1,\"traceEvents\": [ ] , \"b\":2}"}) {
    const Trace trace = read(text);
    EXPECT_THAT(names(trace), IsEmpty()) << text;
    EXPECT_EQ(issue_counts(trace), "") << text;
  }
}

TEST(ChromeDocument, TakesCommasTooManyAsBlanksAndCountsThem) {
  const Trace trace = read_in_ways(with_event("{,\"traceEvents\":[,", ",,],}"), reading_ways());
  EXPECT_THAT(names(trace), ElementsAre("a"));
  EXPECT_EQ(issue_counts(trace), "comma_misplaced 5");
}

TEST(ChromeDocument, CountsCommasBetweenMembers) {
  const std::string events = "\"traceEvents\":[" + std::string(kEvent) + "]";
  for (const auto& [text, count] : {std::pair("{" + events + "}", 0),
                                    {"{\"a\":1," + events + ",\"b\":2}", 0},
                                    {"{," + events + "}", 1},
                                    {"{" + events + ",}", 1},
                                    {"{\"a\":1 " + events + "}", 1},
                                    {"{\"a\":1,," + events + "}", 1},
                                    {"{" + events + " \"b\":[] , }", 2}}) {
    const Trace trace = read_in_ways(text, reading_ways());
    const std::string expected = count == 0 ? "" : "comma_misplaced " + std::to_string(count);
    EXPECT_EQ(issue_counts(trace), expected) << text;
  }
}

TEST(ChromeDocument, CountsMembersOfKinetosThatAreNotJson) {
  fixtures::ChromeText trace;
  trace.events = {fixtures::op("a")};
  trace.before = {{"host_name", R"("say "hi"")"}, {"deviceProperties", R"([{"name": "GPU"}])"}};
  trace.after = {{"traceName", R"("C:\Users\x.json")"}};
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    EXPECT_EQ(issue_counts(read_in_ways(trace.text(layout), reading_ways())), "unescaped_text 2");
  }
}

TEST(ChromeDocument, CountsCommasThatAreMissing) {
  const std::string event(kEvent);
  const std::string text = "{\"traceEvents\":[" + event + event + " " + event + "," + event + "]}";
  const Trace trace = read_in_ways(text, reading_ways());
  EXPECT_EQ(trace.events().size(), 4u);
  EXPECT_EQ(issue_counts(trace), "comma_misplaced 2");
}

TEST(ChromeDocument, CountsNoCommaOfASoundArray) {
  const std::string event(kEvent);
  for (const std::string_view text : {"", " ", "\n"}) {
    const std::string blank(text);
    const std::string two = event + blank + "," + blank + event + blank;
    EXPECT_EQ(issue_counts(read_in_ways("[" + blank + two + "]", reading_ways())), "");
    EXPECT_EQ(issue_counts(read_in_ways("{\"traceEvents\":[" + blank + "]}", reading_ways())), "");
  }
  const std::string open = "[" + event + "," + event + ",\n";
  EXPECT_EQ(issue_counts(read_in_ways(open, reading_ways())), "") << "its writer may go on";
}

TEST(ChromeDocument, CountsTextAfterItsEndOnce) {
  for (const std::string_view end :
       {"{\"traceEvents\":[{}]}", "garbage", "]}]", ",", "\n\n x\n y"}) {
    for (const auto& [start, close] : {std::pair("{\"traceEvents\":[", "]}"), {"[", "]"}}) {
      const std::string whole = with_event(start, close);
      const std::string text = whole + std::string(end);
      const Trace trace = read_in_ways(text, reading_ways());
      EXPECT_THAT(names(trace), ElementsAre("a")) << text;
      const std::size_t at = text.find_first_not_of(" \n", whole.size());
      EXPECT_EQ(describe_issues(trace), "trailing_text 1 @" + std::to_string(at) + "\n") << text;
      EXPECT_EQ(trace.issues()[0].severity, Severity::data_loss);
    }
  }
}

TEST(ChromeDocument, IsTheOnlyOneOfItsFile) {
  const std::string one = with_event("{\"traceEvents\":[", "]}");
  for (const std::size_t block : {std::size_t{16}, std::size_t{4096}}) {
    const Result<Trace> trace = try_read(one + "\n" + one + "\n", {}, BlockSize{block});
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input);
    EXPECT_THAT(trace.status().message(), HasSubstr("split -l 1"));
  }
  // Others only have text after their end.
  EXPECT_THAT(issue_counts(read(one + one)), HasSubstr("trailing_text"));
  EXPECT_THAT(issue_counts(read("\n" + one + "\n" + one)), HasSubstr("trailing_text"));
}

TEST(ChromeDocument, MayBeFollowedByBlanks) {
  for (const std::string_view end : {"\n", " \t\r\n ", ""}) {
    EXPECT_EQ(issue_counts(read(with_event("{\"traceEvents\":[", "]}" + std::string(end)))), "");
    EXPECT_EQ(issue_counts(read(with_event("[", "]" + std::string(end)))), "");
  }
  const std::string far = with_event("[", "]") + std::string(600'000, '\n');
  EXPECT_EQ(issue_counts(read_in_ways(far, reading_ways(4096))), "");
  EXPECT_EQ(describe_issues(read_in_ways(far + "x", reading_ways(4096))),
            "trailing_text 1 @" + std::to_string(far.size()) + "\n");
}

TEST(ChromeDocument, TakesTheLastOfTwoArraysOfEvents) {
  const std::string first =
      R"({"ph":"X","name":"no","ts":9,"pid":7,"cat":"kernel","args":{"correlation":5}})";
  const std::string text = "{\"a\":1,\"traceEvents\":[" + first + "],\"b\":2,\"traceEvents\":[" +
                           std::string(kEvent) + "],\"c\":3}";
  const Trace trace = read_in_ways(text, reading_ways());
  const Trace alone =
      read("{\"a\":1,\"b\":2,\"traceEvents\":[" + std::string(kEvent) + "],\"c\":3}");
  EXPECT_EQ(first_difference(describe(trace), describe(alone)), "")
      << "nothing is left of the first";
  const std::size_t second = text.rfind("\"traceEvents\"");
  EXPECT_EQ(describe_issues(trace), "events_replaced 1 @" + std::to_string(second) + "\n");
}

TEST(ChromeDocument, HasTheTracksOfTheLastArrayAlone) {
  const auto event = [](int thread) {
    return R"({"ph":"X","name":"a","ts":9,"pid":1,"tid":)" + std::to_string(thread) + "}";
  };
  const std::string text = "{\"traceEvents\":[" + event(1) + "," + event(2) + "," + event(3) +
                           "],\"traceEvents\":[" + event(4) + "," + event(2) + "]}";
  const Trace trace = read_in_ways(text, reading_ways());
  ASSERT_EQ(trace.tracks().size(), 2u);
  EXPECT_EQ(trace.tracks()[0].thread.number, 4);
}

TEST(ChromeDocument, IsATraceIfTheLastOfItsArraysIsOne) {
  EXPECT_TRUE(try_read(R"({"traceEvents":[1],"traceEvents":[]})").ok());
  EXPECT_FALSE(try_read(with_event("{\"traceEvents\":[", "],\"traceEvents\":[1]}")).ok());
}

TEST(ChromeDocument, KnowsItsBaseTimeInOtherWords) {
  for (const std::string_view base : {"5", "5.0", "\"5\"", "50e-1"}) {
    const std::string text =
        with_event("{\"baseTimeNanoseconds\":" + std::string(base) + ",\"traceEvents\":[", "]}");
    EXPECT_EQ(read(text).base_time_ns(), 5) << base;
  }
}

TEST(ChromeDocument, IsNotATraceIfTheLastOfItsEventsIsNotAnArray) {
  for (const std::string_view value : {"null", "{}", "5", "\"[]\""}) {
    const std::string text =
        with_event("{\"traceEvents\":[", "],\"traceEvents\":" + std::string(value) + "}");
    const Result<Trace> trace = try_read(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_THAT(trace.status().message(), HasSubstr("without an array `traceEvents`"));
    EXPECT_EQ(difference_between(text, reading_ways()), "");
    const Trace turned =
        read(with_event("{\"traceEvents\":" + std::string(value) + ",\"traceEvents\":[", "]}"));
    EXPECT_THAT(names(turned), ElementsAre("a")) << "the last one counts";
  }
}

TEST(ChromeDocument, FindsItsEventsByTheMeaningOfTheirKey) {
  const Trace trace = read(with_event("{\"trace\\u0045vents\":[", "]}"));
  EXPECT_THAT(names(trace), ElementsAre("a"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeDocument, IsNotATraceIfNothingInItsArrayIsAnEvent) {
  for (const std::string_view array :
       {R"([{"file":"a"}])", "[1,2]", "[null]", R"([{"ph":""}])", R"([{},[]])", R"(["ph"])"}) {
    for (const std::string& text :
         {std::string(array), "{\"traceEvents\":" + std::string(array) + "}"}) {
      const Result<Trace> trace = try_read(text);
      ASSERT_FALSE(trace.ok()) << text;
      EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input) << text;
      EXPECT_THAT(trace.status().message(), HasSubstr("nothing in its array is a trace event"));
      EXPECT_THAT(trace.status().message(), HasSubstr("export_chrome_trace")) << "the remedy";
      EXPECT_EQ(difference_between(text, reading_ways()), "");
    }
  }
}

TEST(ChromeDocument, IsATraceIfAnythingInItsArrayIsAnEvent) {
  for (const std::string_view array :
       {R"([1,{"ph":"X"}])", R"([{"ph":"M"}])", R"([{"ph":"?"}])", R"([{},{"ph":"i"}])"}) {
    EXPECT_TRUE(try_read(array).ok()) << array;
  }
}

TEST(ChromeDocument, HasItsMembersOnBothSidesOfTheEvents) {
  ChromeText before;
  before.events = {op("a")};
  before.before = {{"schemaVersion", "1"}, {"record_shapes", "1"}, {"host_name", "\"vm\""}};
  ChromeText after = before;
  after.after = after.before;
  after.before.clear();
  for (const Layout layout : fixtures::kAllLayouts) {
    const Trace trace = read(before.text(layout));
    EXPECT_EQ(describe(trace), describe(read(after.text(layout))));
    EXPECT_EQ(trace.metadata().size(), 3u);
    EXPECT_EQ(trace.metadata().at("host_name"), "\"vm\"");
    EXPECT_TRUE(trace.is_set("record_shapes"));
  }
}

TEST(ChromeDocument, HasItsBaseTimeOnEitherSideOfTheEvents) {
  ChromeText trace;
  trace.events = {op("a", "7.125", "1")};
  trace.before = {{"baseTimeNanoseconds", "1790857026000000000"}};
  const Trace before = read(trace.text());
  std::swap(trace.before, trace.after);
  const Trace after = read(trace.text());
  EXPECT_EQ(before.base_time_ns(), 1'790'857'026'000'000'000);
  EXPECT_EQ(after.base_time_ns(), 1'790'857'026'000'000'000);
  EXPECT_EQ(before.events().start_ns(EventId{0}), 7'125) << "times stay as the file has them";
}

TEST(ChromeDocument, KeepsValuesOfMembersAsTheirJson) {
  const Trace trace = read(
      R"({"object": {"a": [1, {"b": "}]"}], "c": null} , "list":[ ],"number":-1.5e3 ,"yes":true,)"
      R"("text":"tab\t\u00e9\/","empty":"","traceEvents":[]})");
  EXPECT_EQ(trace.metadata().at("object"), R"({"a": [1, {"b": "}]"}], "c": null})");
  EXPECT_EQ(trace.metadata().at("list"), "[]");
  EXPECT_EQ(trace.metadata().at("number"), "-1500");
  EXPECT_EQ(trace.metadata().at("yes"), "true");
  EXPECT_EQ(trace.metadata().at("text"), "\"tab\\t\xc3\xa9/\"") << "strings are written anew";
  EXPECT_EQ(trace.metadata().at("empty"), "\"\"");
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeDocument, ReadsTheRankFromEveryTextOfTheSameNumber) {
  for (const std::string_view rank : {"3", "3.0", "3e0", "0.3E+1", "30e-1"}) {
    const Trace trace = read("{\"distributedInfo\": {\n\t\"rank\": " + std::string(rank) +
                             ",\"world_size\":8.0},\"traceEvents\":[]}");
    EXPECT_EQ(trace.identity().rank, 3) << rank;
  }
}

TEST(ChromeDocument, TakesTheLastOfARepeatedMember) {
  const Trace trace = read(R"({"a":1,"traceEvents":[],"a":2})");
  EXPECT_EQ(trace.metadata().at("a"), "2");
}

TEST(ChromeDocument, FindsItsEventsAfterMembersThatSpeakOfThem) {
  const Trace trace = read(with_event(
      R"({"nested":{"traceEvents":[{"ph":"X","name":"no","ts":1}]},"note":"\"traceEvents\":[",)"
      R"("traceEvents" :)"
      "\n[",
      "]}"));
  EXPECT_THAT(names(trace), ElementsAre("a"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeDocument, TakesEventsThatAreNoArrayForAMember) {
  for (const std::string_view value : {"null", "{}", "\"[]\"", "5"}) {
    const std::string text = R"({"traceEvents":)" + std::string(value) + "}";
    const Result<Trace> trace = try_read(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input);
    EXPECT_THAT(trace.status().message(), HasSubstr("traceEvents"));
  }
}

TEST(ChromeDocument, WithoutEventsIsNoTrace) {
  for (const std::string_view text : {"{}", "{", R"({"a":1})", R"({"traceevents":[]})",
                                      R"({"rows":[{"ph":"X","name":"a","ts":1}]})"}) {
    const Result<Trace> trace = try_read(text);
    ASSERT_FALSE(trace.ok()) << text;
    EXPECT_EQ(trace.status().code(), StatusCode::unreadable_input) << text;
    EXPECT_THAT(trace.status().message(), HasSubstr("export_chrome_trace")) << "the remedy";
  }
}

TEST(ChromeDocument, LeavesOutMembersThatAreNoJson) {
  for (const std::string_view member : {"\"bad\" 1", "bad: 1", "\"bad\": ]", "5", "[1]", "\"bad\"",
                                        "\"bad\": {\"x\" 1}", "'bad': 1"}) {
    const Trace trace =
        read(with_event("{\"a\":1," + std::string(member) + ",\"traceEvents\":[", "],\"b\":2}"));
    EXPECT_THAT(names(trace), ElementsAre("a")) << member;
    EXPECT_EQ(issue_counts(trace), "member_unreadable 1") << member;
    EXPECT_EQ(trace.metadata().at("a"), "1") << member;
    EXPECT_EQ(trace.metadata().at("b"), "2") << member;
  }
}

TEST(ChromeDocument, SaysWhereAMemberIsUnreadable) {
  const Trace trace = read("{\"a\":1,\n  bad:1,\"traceEvents\":[]}");
  EXPECT_EQ(describe_issues(trace), "member_unreadable 1 @10\n");
}

TEST(ChromeDocument, KeepsEventsBeforeAMemberThatIsNoJson) {
  const Trace trace = read(with_event("{\"traceEvents\":[", "],\"bad\" 1,\"b\":2}"));
  EXPECT_THAT(names(trace), ElementsAre("a"));
  EXPECT_THAT(issue_counts(trace), HasSubstr("member_unreadable 1"));
}

TEST(ChromeDocument, MayStartWithAByteOrderMarkAndBlanks) {
  for (const std::string_view start : {"\xef\xbb\xbf", " \r\n\t", "\xef\xbb\xbf\n  "}) {
    EXPECT_THAT(names(read(std::string(start) + with_event("{\"traceEvents\":[", "]}"))),
                ElementsAre("a"));
    EXPECT_THAT(names(read(std::string(start) + with_event("[", "]"))), ElementsAre("a"));
  }
}

// The reader feeds texts piece by piece; where they are cut must not matter.
TEST(ChromeDocument, ReadsTheSameInPiecesOfAnySize) {
  ChromeText trace;
  trace.before = {{"note", "\"a \\\"traceEvents\\\" \\\\\""}, {"list", "[1, {\"x\": []}]"}};
  for (int row = 0; row < 6; ++row) {
    trace.events.push_back(op("op " + std::to_string(row)).arg("External id", "5"));
  }
  trace.after = {{"baseTimeNanoseconds", "123"}};
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    const std::string expected = describe(read(text));
    for (const std::size_t size : {1u, 2u, 3u, 7u, 64u, 1000u}) {
      TraceBuilder builder;
      ChromeDocument document({}, builder, builder);
      std::string pending;
      std::uint64_t offset = 0;
      for (std::size_t at = 0; at < text.size(); at += size) {
        pending += text.substr(at, size);
        const bool last = at + size >= text.size();
        std::string padded = pending + std::string(wire::kJsonPadding, '\0');
        const std::size_t used =
            document.consume(std::string_view(padded).substr(0, pending.size()), offset, last);
        ASSERT_LE(used, pending.size());
        pending.erase(0, used);
        offset += used;
      }
      EXPECT_TRUE(pending.empty()) << "the last text is consumed whole";
      EXPECT_TRUE(document.finish().ok());
      EXPECT_EQ(first_difference(describe(std::move(builder).finish()), expected), "")
          << "in pieces of " << size << ":\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace tbtrace::readers
