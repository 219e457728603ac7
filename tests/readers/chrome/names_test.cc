// Names, stacks and metadata: escaped as JSON has it, or not at all as Kineto writes them.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::describe;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;

/// The name that is read where `content` stands between the quotes, between two other events.
std::string name_in(std::string_view content, Layout layout) {
  const Trace trace = read(trace_text(
      {op("before"), op(content, "7", "8").arg("External id", "5"), op("after")}, layout));
  EXPECT_EQ(trace.events().size(), 3u) << content;
  if (trace.events().size() != 3) return "";
  const auto event = static_cast<EventId>(1);
  EXPECT_EQ(trace.name(static_cast<EventId>(0)), "before") << content;
  EXPECT_EQ(trace.name(static_cast<EventId>(2)), "after") << content;
  EXPECT_EQ(trace.events().start_ns(event), 7'000) << content;
  EXPECT_EQ(trace.events().duration_ns(event), 8'000) << content;
  EXPECT_EQ(trace.external_id(event), 5) << content;
  EXPECT_EQ(trace.kind(event), EventKind::cpu_op) << content;
  return std::string(trace.name(event));
}

// Kineto's C++ writer escapes nothing. These stand in its files exactly so.
constexpr std::string_view kUnescaped[] = {
    R"("quoted")",
    R"(")",
    R"("")",
    R"(a"b)",
    R"(ends with a quote")",
    R"(","ph":"X")",
    R"(", "ph": "M", "name": "other)",
    R"(a", "b": "c)",
    R"(x", "ts": 999, "dur": 1, "y": ")",
    R"(comma,)",
    R"(quote, comma",)",
    R"(brace"}, {"ph": "X", "name": "y)",
    R"(]}"})",
    R"({"device": "cpu"})",
    R"(torch/nn "and" more)",
    R"(: ")",
    "tab\tin it \"too\"",
};

TEST(ChromeNames, MayHoldAnythingInKinetosLines) {
  for (const std::string_view name : kUnescaped) {
    EXPECT_EQ(name_in(name, Layout::kineto_lines), name);
  }
  EXPECT_EQ(name_in(R"(", "pid": 7, "tid": 8, "x": ")", Layout::kineto_lines),
            R"(", "pid": 7, "tid": 8, "x": ")");
}

TEST(ChromeNames, MayHoldAnythingBeforeThePidInKinetosOlderLayout) {
  for (const std::string_view name : kUnescaped) {
    EXPECT_EQ(name_in(name, Layout::kineto_inline), name);
  }
  EXPECT_EQ(name_in(R"(x", "pid": 7)", Layout::kineto_inline), R"(x", "pid": 7)")
      << "the last of the line counts";
}

TEST(ChromeNames, MayHoldQuotesInOtherLayoutsWhereNothingLooksLikeAMember) {
  for (const Layout layout :
       {Layout::minified, Layout::event_a_line, Layout::spaced, Layout::indented}) {
    EXPECT_EQ(name_in(R"("quoted")", layout), R"("quoted")");
    EXPECT_EQ(name_in(R"(a"b)", layout), R"(a"b)");
    EXPECT_EQ(name_in(R"(say "hi" twice)", layout), R"(say "hi" twice)");
  }
}

TEST(ChromeNames, KeepBackslashesThatKinetoDidNotEscape) {
  // torch 1.13 on Windows; `\n` would be a newline if it were an escape.
  constexpr std::string_view kName = R"(torch\nn\modules\module.py(1256): __getattr__)";
  EXPECT_EQ(name_in(kName, Layout::kineto_inline), kName);
  EXPECT_EQ(name_in(kName, Layout::kineto_lines), kName);
}

TEST(ChromeNames, LoseTheOneEscapeThatKinetoKnows) {
  EXPECT_EQ(name_in(R"(say \"hi\")", Layout::kineto_lines), R"(say "hi")");
  EXPECT_EQ(name_in(R"(say \"hi\")", Layout::kineto_inline), R"(say "hi")");
}

TEST(ChromeNames, OfEveryEventAreReadByTheLinesOfTheFile) {
  // Valid JSON by chance, and still one name.
  ChromeText trace;
  trace.events = {op("first"), op(R"(a", "b": "c)"), op("last")};
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    EXPECT_THAT(names(read(trace.text(layout))), ElementsAre("first", R"(a", "b": "c)", "last"));
  }
}

TEST(ChromeNames, OfArrowsAndLabelsEndWhereTheirLinesEnd) {
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    // In the older layout an arrow's name is the last of its event, a label's the first.
    const std::string text =
        "{\n\"traceEvents\": [\n" + std::string(layout == Layout::kineto_lines ? "    \n" : "") +
        fixtures::event_text(op("a"), layout) +
        ",\n  {\n    \"ph\": \"s\", \"id\": 7, \"pid\": 1, \"tid\": 1, \"ts\": "
        "10,\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n  {\n    "
        "\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1, \"pid\": 1, "
        "\"tid\": 0,\n    \"args\": {\n      \"name\": \"python\"\n    }\n  "
        "}\n]}\n";
    const Trace trace = read(text);
    EXPECT_EQ(issue_counts(trace), "");
    EXPECT_EQ(trace.flows().size(), 1u);
    EXPECT_EQ(trace.string(trace.tracks()[0].process_name), "python");
  }
}

/// The call stack that is read where `content` stands between the quotes.
std::string stack_in(std::string_view content, Layout layout, bool at_the_end) {
  ChromeEvent event = op("op").arg("External id", "5");
  event.arg("Call stack", fixtures::in_quotes(content));
  if (!at_the_end) event.arg("Ev Idx", "0");
  const Trace trace = read(trace_text({op("before"), event, op("after")}, layout));
  EXPECT_THAT(names(trace), ElementsAre("before", "op", "after")) << content;
  return std::string(trace.argument_text(EventId{1}, Argument::call_stack));
}

TEST(ChromeNames, OfStacksMayHoldQuotesAndTabs) {
  for (const std::string_view stack : {
           R"(<dynamo {"device": "cpu"}>(2): first;a.py(1): f;)",
           R"(a.py(1): "f";"b";)",
           R"(a.py(1): f"x", "y": "z"(2): g;)",
           "a.py(1): tab\t\"q\";b;",
           R"(";)",
       }) {
    for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
      EXPECT_EQ(stack_in(stack, layout, true), stack);
      EXPECT_EQ(stack_in(stack, layout, false), stack);
    }
  }
}

TEST(ChromeNames, OfMetadataMayHoldQuotesInKinetosLines) {
  ChromeText trace;
  trace.events = {op("a")};
  trace.before = {{"note", R"("say "hi", "b": 5")"}, {"last", "\"x\""}};
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    const Trace read_back = read(trace.text(layout));
    EXPECT_EQ(read_back.metadata().at("note"), R"("say \"hi\", \"b\": 5")");
    EXPECT_EQ(read_back.metadata().at("last"), "\"x\"");
    EXPECT_EQ(issue_counts(read_back), "unescaped_text 1");
  }
}

TEST(ChromeNames, OfMetadataThatNoJsonHoldsAreCountedOnEitherSideOfTheEvents) {
  for (const Layout layout : fixtures::kAllLayouts) {
    ChromeText trace;
    trace.events = {op("a"), op("b")};
    const auto counted = [&](std::string_view value) {
      trace.before = {{"traceName", std::string(value)}};
      trace.after.clear();
      const std::string before = issue_counts(read(trace.text(layout)));
      std::swap(trace.before, trace.after);
      EXPECT_EQ(issue_counts(read(trace.text(layout))), before) << value;
      return before;
    };
    EXPECT_EQ(counted(R"("C:\\dir\\x.json")"), "");
    EXPECT_EQ(counted(R"("say \"x\" \u00e4")"), "");
    EXPECT_EQ(counted(R"("C:\dir\x.json")"), "unescaped_text 1");
    EXPECT_EQ(counted(R"("C:\Users\x.json")"), "unescaped_text 1");
    EXPECT_EQ(counted("\"a\tb\""), "unescaped_text 1");
    EXPECT_EQ(counted("\"a\xff\""), "invalid_utf8 1");
  }
}

TEST(ChromeNames, AreReadByTheLinesOfTheEventsWhateverStandsBefore) {
  // What is said about the events may look like them.
  ChromeText trace;
  trace.events = {op("first"), op(R"(a", "b": "c)"), op("last")};
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    trace.before = {{"main", "\"traceEvents\""}, {"devices", "[{\"id\": 0}]"}};
    EXPECT_THAT(names(read(trace.text(layout))), ElementsAre("first", R"(a", "b": "c)", "last"));
    // So long that the events are not in the first text that the reader gets.
    trace.before = {{"log", "[" + std::string(300'000, ' ') + "]"}, {"note", R"("a \"b\" \n")"}};
    const Trace late = read(trace.text(layout));
    EXPECT_THAT(names(late), ElementsAre("first", R"(a", "b": "c)", "last"));
    EXPECT_EQ(late.metadata().at("note"), R"("a \\\"b\\\" \\n")");
  }
}

TEST(ChromeNames, AreUnescapedAsJsonHasIt) {
  const auto name = [](std::string_view content) { return name_in(content, Layout::minified); };
  EXPECT_EQ(name(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(name(R"(caf\u00e9)"), "caf\xc3\xa9");
  EXPECT_EQ(name(R"(\ud83d\ude00)"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(name(R"(\ud83d)"), "\xef\xbf\xbd") << "a lone surrogate is U+FFFD";
  EXPECT_EQ(name(R"(\ude00x)"), "\xef\xbf\xbdx");
  EXPECT_EQ(name(R"(\u0000)"), std::string(1, '\0'));
  EXPECT_EQ(name(R"(C:\\n)"), R"(C:\n)");
  EXPECT_EQ(name(R"(ends with \\)"), R"(ends with \)");
}

TEST(ChromeNames, AreOneTextHoweverTheyAreEscaped) {
  const Trace trace =
      read(trace_text({op("caf\xc3\xa9"), op(R"(caf\u00e9)"), op(R"(c\u0061f\u00E9)")}));
  EXPECT_EQ(trace.events().name(EventId{0}), trace.events().name(EventId{1}));
  EXPECT_EQ(trace.events().name(EventId{0}), trace.events().name(EventId{2}));
}

TEST(ChromeNames, ThatNoJsonHoldsAreCountedWhereTheyStand) {
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace_text(
        {op("first"), op(R"(a"b)"), op("c").arg("Call stack", R"("f"x"y;")"), op("last")}, layout);
    const Trace trace = read(text);
    ASSERT_EQ(issue_counts(trace), "unescaped_text 2") << text;
    EXPECT_EQ(trace.issues()[0].severity, Severity::info);
    for (const std::uint64_t offset : trace.issues()[0].offsets) EXPECT_EQ(text[offset], '{');
    EXPECT_GT(trace.issues()[0].offsets[0], text.find("first"));
    EXPECT_LT(trace.issues()[0].offsets[0], text.find(R"(a"b)"));
    EXPECT_GT(trace.issues()[0].offsets[1], text.find(R"(a"b)"));
  }
}

TEST(ChromeNames, KeepEscapesThatJsonDoesNotKnowAndCountThem) {
  const Trace trace = read(trace_text({op(R"(a\qb)"), op(R"(c\u12)")}));
  EXPECT_THAT(names(trace), ElementsAre(R"(a\qb)", R"(c\u12)"));
  EXPECT_EQ(issue_counts(trace), "unescaped_text 2");
}

TEST(ChromeNames, ThatAreNoUtf8AreKeptWithReplacements) {
  for (const Layout layout : fixtures::kAllLayouts) {
    const Trace trace = read(trace_text({op("a"), op("b\xff\xc3(c"), op("caf\xc3\xa9")}, layout));
    EXPECT_THAT(names(trace), ElementsAre("a", "b\xef\xbf\xbd\xef\xbf\xbd(c", "caf\xc3\xa9"));
    EXPECT_EQ(issue_counts(trace), "invalid_utf8 1");
    EXPECT_EQ(trace.issues()[0].severity, Severity::info);
  }
}

TEST(ChromeNames, ThatAreNoUtf8AreCleanWhereverTheyStand) {
  ChromeEvent event = op("a").with("cat", "\"c\xff\"").with("tid", "\"t\xff\"");
  event.arg("Call stack", "\"s\xff;\"").arg("Input type", "[\"i\xff\"]").arg("Input Dims", "[[1]]");
  ChromeText text;
  text.events = {op("first"), event};
  text.after = {{"note", "\"n\xff\""}};
  const std::string all = describe(read(text.text()));
  EXPECT_EQ(all.find('\xff'), std::string::npos) << all;
  for (const std::string_view clean :
       {"c\xef\xbf\xbd", "t\xef\xbf\xbd", "s\xef\xbf\xbd;", "i\xef\xbf\xbd", "n\xef\xbf\xbd"}) {
    EXPECT_NE(all.find(clean), std::string::npos) << clean;
  }
}

TEST(ChromeNames, KeepControlCharactersThatAreNotEscapedAndCountThem) {
  for (const std::string_view name : {"a\tb\x01", "two\nlines", "a\x1f"}) {
    EXPECT_EQ(name_in(name, Layout::minified), name);
    EXPECT_EQ(issue_counts(read(trace_text({op("first"), op(name)}))), "unescaped_text 1") << name;
  }
}

TEST(ChromeNames, MayHoldTheTabThatKinetoDoesNotEscape) {
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    const Trace trace = read(trace_text({op("first"), op("a\tb"), op("last")}, layout));
    EXPECT_THAT(names(trace), ElementsAre("first", "a\tb", "last"));
    EXPECT_EQ(issue_counts(trace), "unescaped_text 1") << "other programs refuse the file";
  }
}

TEST(ChromeNames, OfKinetoWithBackslashesAreCounted) {
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    const Trace trace =
        read(trace_text({op("first"), op(R"(C:\new)"), op(R"(say \"hi\")")}, layout));
    EXPECT_THAT(names(trace), ElementsAre("first", R"(C:\new)", R"(say "hi")"));
    EXPECT_EQ(issue_counts(trace), "unescaped_text 1") << "its one escape is fine";
  }
}

TEST(ChromeNames, WithoutQuotesAreReadAndCountedEachTime) {
  for (const auto& [key, value] : {std::pair{"name", "forward"},
                                   {"name", "1-2"},
                                   {"cat", "12ab"},
                                   {"pid", "nobody"},
                                   {"pid", "01"},
                                   {"tid", "+1"},
                                   {"ph", "X"}}) {
    const ChromeEvent bare = op("a").with(key, value);
    const ChromeEvent quoted = op("a").with(key, fixtures::in_quotes(value));
    const Trace trace = read(trace_text({op("first"), quoted, bare, bare, quoted}));
    EXPECT_EQ(trace.events().size(), 5u);
    EXPECT_EQ(issue_counts(trace), "unescaped_text 2") << key << ' ' << value;
  }
  for (const std::string_view value : {"0", "-1", "0.5", "1e3", "\"01\"", "true", "NaN"}) {
    const Trace trace = read(
        trace_text({op("a").with("name", value).with("cat", value).with("pid", value), op("b")}));
    EXPECT_EQ(issue_counts(trace), "") << value;
  }
}

TEST(ChromeNames, WithLoneSurrogatesAreReplacedAndCounted) {
  const Trace trace =
      read(trace_text({op(R"(a\ud83d)"), op(R"(\udc00b)").with("own", R"("\ud800")")}));
  EXPECT_THAT(names(trace), ElementsAre("a\ufffd", "\ufffdb"));
  EXPECT_EQ(issue_counts(trace), "invalid_utf8 2");
}

TEST(ChromeNames, OfMetadataAreTheirMeaning) {
  const Trace trace = read(R"({"a\"b":1,"\u0063":2,"d\\":3,"traceEvents":[]})");
  EXPECT_EQ(trace.metadata().at("a\"b"), "1");
  EXPECT_EQ(trace.metadata().at("c"), "2");
  EXPECT_EQ(trace.metadata().at("d\\"), "3");
}

TEST(ChromeNames, OfThousandsOfCharactersStayWhole) {
  const std::string name(5123, 'k');
  for (const Layout layout : fixtures::kAllLayouts) EXPECT_EQ(name_in(name, layout), name);
}

TEST(ChromeNames, ThatNobodyAskedForAreCountedIfNoJsonHoldsThem) {
  for (const std::string_view value : {"\"a\tb\"", "\"a\"b\"", "{\"a\tb\": 1}", "[\"a\nb\"]"}) {
    const Trace trace = read(trace_text({op("first"), op("a").arg("own", value)}));
    EXPECT_THAT(names(trace), ElementsAre("first", "a"));
    EXPECT_EQ(issue_counts(trace), "unescaped_text 1") << value;
  }
}

}  // namespace
}  // namespace tbtrace::readers
