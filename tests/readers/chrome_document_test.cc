// The document around the events: members, their order, open ends.
#include "readers/chrome_document.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "readers/chrome_events.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeText;
using fixtures::describe;
using fixtures::describe_issues;
using fixtures::first_difference;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::op;
using fixtures::read;
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

TEST(ChromeDocument, TakesCommasTooManyAsBlanks) {
  const Trace trace = read(with_event("{,\"traceEvents\":[,", ",,],}"));
  EXPECT_THAT(names(trace), ElementsAre("a"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeDocument, IgnoresWhatFollowsItsEnd) {
  for (const std::string_view end : {"\n", "{\"traceEvents\":[{}]}", "garbage", "]}]"}) {
    EXPECT_EQ(issue_counts(read(with_event("{\"traceEvents\":[", "]}" + std::string(end)))), "");
    EXPECT_EQ(issue_counts(read(with_event("[", "]" + std::string(end)))), "");
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
  EXPECT_EQ(trace.metadata().at("list"), "[ ]");
  EXPECT_EQ(trace.metadata().at("number"), "-1.5e3");
  EXPECT_EQ(trace.metadata().at("yes"), "true");
  EXPECT_EQ(trace.metadata().at("text"), "\"tab\\t\xc3\xa9/\"") << "strings are written anew";
  EXPECT_EQ(trace.metadata().at("empty"), "\"\"");
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(ChromeDocument, TakesTheLastOfARepeatedMember) {
  EXPECT_EQ(read(R"({"a":1,"traceEvents":[],"a":2})").metadata().at("a"), "2");
}

TEST(ChromeDocument, FindsItsEventsBehindMembersThatSpeakOfThem) {
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
      ChromeDocument document({}, builder, [&builder](const Wanted& wanted) {
        return std::make_unique<EventMapper>(wanted, builder);
      });
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
      EXPECT_TRUE(document.has_events());
      EXPECT_EQ(first_difference(describe(std::move(builder).finish()), expected), "")
          << "in pieces of " << size << ":\n"
          << text;
    }
  }
}

}  // namespace
}  // namespace tbtrace::readers
