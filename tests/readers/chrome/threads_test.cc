// The number of threads, the size of blocks and how the bytes arrive must not show in the trace.
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/failing_source.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::describe;
using fixtures::describe_issues;
using fixtures::first_difference;
using fixtures::in_quotes;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::op;
using fixtures::random_rounds;
using fixtures::read;

/// A row of some kind, with names that come back and names that do not.
ChromeEvent random_event(std::mt19937& random, int row, bool unescaped) {
  const std::string time =
      std::to_string(1'000'000 + row * 3) + "." + std::to_string(100 + row % 900);
  const std::string number = std::to_string(row);
  std::string name = row % 3 == 0 ? "aten::op_" + number : "aten::mm" + std::to_string(row % 50);
  if (unescaped && row % 7 == 0) name = "a \"quoted\", \"ph\": \"name\" " + number;
  ChromeEvent event = op(name, time, "2.125").with("tid", std::to_string(1 + row % 5));
  event.arg("External id", number);
  switch (random() % 6) {
    case 0:
      event.arg("Input Dims", "[[" + number + ", 3], []]").arg("Input type", "[\"float\", \"\"]");
      return event.arg("Sequence number", number).arg("Ev Idx", number);
    case 1:
      event.with("cat", "\"kernel\"").with("pid", "0").with("tid", "\"stream 7\"");
      return event.arg("correlation", number);
    case 2:
      event.with("ph", "\"i\"").with("cat", "\"cpu_instant_event\"").with("name", "\"[memory]\"");
      return event.arg("Bytes", number).arg("Device Type", "0");
    case 3:
      event.with("ph", "\"s\"").with("cat", "\"fwdbwd\"").with("name", "\"fwdbwd\"");
      return event.with("id", number);
    case 4:
      event.with("cat", "\"python_function\"").arg("Python id", number);
      return event.arg("Call stack", "\"a.py(" + number + "): f;b.py(2): g;\"");
    default:
      event.with("ph", "\"M\"").with("name", "\"thread_name\"");
      return event.arg("name", in_quotes("thread " + number));
  }
}

ChromeText large_trace(int events, bool unescaped = false) {
  std::mt19937 random(7);
  ChromeText trace;
  trace.before = {{"schemaVersion", "1"}, {"with_stack", "1"}};
  for (int row = 0; row < events; ++row) {
    trace.events.push_back(random_event(random, row, unescaped));
  }
  trace.after = {{"baseTimeNanoseconds", "1790857026000000000"}};
  return trace;
}

/// Reads with all numbers of threads, in blocks of 4096 bytes and in those of the program.
Trace read_with_any_threads(const std::string& text) {
  return fixtures::read_in_ways(text, fixtures::reading_ways(4096));
}

Trace read_damaged_with_any_threads(const std::string& text) {
  for (const std::size_t block_bytes : {std::size_t{4096}, BlockSize().bytes}) {
    EXPECT_EQ(fixtures::difference_between(text, fixtures::numbers_of_threads(block_bytes)), "");
  }
  return read(text);
}

constexpr int kManyEvents = 16'000;  // 2 to 4 MB: several blocks

TEST(ChromeThreads, GiveTheSameTraceInEveryLayout) {
  const ChromeText trace = large_trace(kManyEvents);
  std::string expected;
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    ASSERT_GT(text.size(), 3u << 19);
    const Trace all = read_with_any_threads(text);
    EXPECT_EQ(issue_counts(all), "");
    if (expected.empty()) expected = describe(all);
    EXPECT_EQ(first_difference(expected, describe(all)), "");
  }
}

TEST(ChromeThreads, GiveTheSameTraceWithUnescapedNames) {
  const ChromeText trace = large_trace(kManyEvents, true);
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    const Trace all = read_with_any_threads(trace.text(layout));
    EXPECT_THAT(fixtures::names(all), testing::Contains("a \"quoted\", \"ph\": \"name\" 21"));
  }
}

TEST(ChromeThreads, GiveTheSameTraceWithEscapedKeys) {
  const auto escaped = [](ChromeText trace) {
    for (std::size_t row = 0; row < trace.events.size(); row += 5) {
      for (auto& [key, value] : trace.events[row].members) {
        if (key == "name") key = "na\\u006de";
      }
    }
    return trace;
  };
  const ChromeText plain = large_trace(2000);
  const Trace as_json = read_with_any_threads(escaped(plain).text(Layout::minified));
  EXPECT_EQ(first_difference(describe(read(plain.text(Layout::minified))), describe(as_json)), "");
  // Kineto's writer escapes nothing: this key is not `name`.
  for (const Layout layout : {Layout::kineto_lines, Layout::kineto_inline}) {
    const Trace all = read_with_any_threads(escaped(large_trace(2000, true)).text(layout));
    EXPECT_THAT(issue_counts(all), testing::HasSubstr("event_incomplete"));
  }
}

TEST(ChromeThreads, GiveTheSameTraceOfABareArray) {
  const std::vector<ChromeEvent> events = large_trace(kManyEvents).events;
  const std::string text = fixtures::array_text(events, Layout::event_a_line);
  EXPECT_EQ(issue_counts(read_with_any_threads(text)), "");
  EXPECT_EQ(issue_counts(read_with_any_threads(text.substr(0, text.size() - 2))), "");
}

TEST(ChromeThreads, GiveTheSameTraceWithEventsLargerThanABlock) {
  ChromeText trace = large_trace(kManyEvents / 2);
  for (const std::size_t row : {100u, 101u, 4000u}) {
    trace.events[row].arg("padding", in_quotes(std::string(700'000 + row, 'p')));
  }
  trace.events.back().arg("padding", "[" + std::string(2'000'000, ' ') + "1]");
  for (const Layout layout : {Layout::minified, Layout::kineto_lines}) {
    const Trace all = read_with_any_threads(trace.text(layout));
    EXPECT_EQ(issue_counts(all), "");
    EXPECT_EQ(first_difference(describe(all), describe(read(trace.text(Layout::spaced)))), "");
  }
}

TEST(ChromeThreads, GiveTheSameTraceWithAFirstEventLargerThanABlock) {
  ChromeText trace = large_trace(3000);
  trace.events[0].with("padding", in_quotes(std::string(1'500'000, 'p')));
  EXPECT_EQ(issue_counts(read_with_any_threads(trace.text())), "");
}

TEST(ChromeThreads, GiveTheSameTraceWhereEventsAreSeparatedInManyWays) {
  // The text cannot be cut where the first two events met.
  const ChromeText trace = large_trace(kManyEvents);
  std::string text = "[" + fixtures::event_text(trace.events[0], Layout::minified);
  for (std::size_t row = 1; row < trace.events.size(); ++row) {
    text += row % 2 == 0 ? " , " : "\n,\n\n";
    text +=
        fixtures::event_text(trace.events[row], row % 3 == 0 ? Layout::spaced : Layout::minified);
  }
  const Trace all = read_with_any_threads(text + "]");
  EXPECT_EQ(issue_counts(all), "");
  const Trace expected = read(fixtures::array_text(trace.events, Layout::minified));
  EXPECT_EQ(all.events().size(), expected.events().size());
}

TEST(ChromeThreads, GiveTheSameTraceWhereTheArrayEndsInsideABlock) {
  ChromeText trace = large_trace(kManyEvents);
  std::string log = "[";
  for (int line = 0; line < 20'000; ++line)
    log += "\"INFO: },{\\\"ph\\\" " + std::to_string(line) + "\", ";
  trace.after.emplace_back("log", log + "1]");
  trace.after.emplace_back("traceName", "\"t.json\"");
  for (const Layout layout : {Layout::minified, Layout::event_a_line}) {
    const Trace all = read_with_any_threads(trace.text(layout));
    EXPECT_EQ(issue_counts(all), "");
    EXPECT_EQ(all.metadata().at("traceName"), "\"t.json\"");
  }
}

TEST(ChromeThreads, GiveTheSameTraceOfAFileThatWasCut) {
  const std::string text = large_trace(kManyEvents).text(Layout::event_a_line);
  for (const std::size_t cut : {text.size() - 1, text.size() / 2, text.size() / 2 + 37,
                                std::size_t{1} << 20, (std::size_t{1} << 19) + 1}) {
    EXPECT_EQ(issue_counts(read_with_any_threads(text.substr(0, cut))), "input_truncated 1");
  }
}

TEST(ChromeThreads, GiveTheSameTraceWithGarbageBetweenEvents) {
  const ChromeText trace = large_trace(kManyEvents);
  for (unsigned seed = 0; seed < random_rounds(12u); ++seed) {
    std::mt19937 random(seed);
    const Layout layout = seed % 2 == 0 ? Layout::minified : Layout::kineto_lines;
    std::string text = "{\n\"traceEvents\": [\n";
    std::size_t garbage = 0;
    for (const ChromeEvent& event : trace.events) {
      text += fixtures::event_text(event, layout);
      text += layout == Layout::minified ? "," : ",\n";
      if (random() % 400 != 0) continue;
      ++garbage;
      switch (random() % 4) {
        case 0:
          text += "@@@ what is this?,";
          break;
        case 1:
          text += "{\"ph\":\"X\",\"name\":\"half an event\",\"ts\":";
          break;
        case 2:
          text += "}}}],,[{";
          break;
        default:
          text += "\"" + std::string(random() % 300'000, 'g') + ",";
      }
      if (garbage % 3 == 2) text += "},";
    }
    SCOPED_TRACE(seed);
    const Trace all = read_with_any_threads(text + "{}]}");
    EXPECT_NE(issue_counts(all), "");
  }
}

TEST(ChromeThreads, GiveTheSameTraceWithBadBytesInsideEvents) {
  const std::string text = large_trace(kManyEvents).text(Layout::event_a_line);
  for (unsigned seed = 0; seed < random_rounds(12u); ++seed) {
    std::mt19937 random(seed);
    std::string damaged = text;
    for (int change = 0; change < 60; ++change) {
      damaged[200 + random() % (damaged.size() - 400)] = "\"{},:\xff\\\0x"[random() % 9];
    }
    SCOPED_TRACE(seed);
    const Trace all = read_damaged_with_any_threads(damaged);
    EXPECT_NE(issue_counts(all), "");
  }
}

TEST(ChromeThreads, GiveTheSameTraceOfPipesThatGiveLittleAtATime) {
  const std::string text = large_trace(2000).text(Layout::kineto_inline);
  const Trace whole = read(text);
  for (const std::size_t piece : {1u, 3u, 1000u, 4097u, 131'071u}) {
    for (const int threads : {1, 3}) {
      const auto source = fixtures::in_pieces(text, piece);
      const Result<Trace> trace = fixtures::trace_of(read_chrome(*source, {.threads = threads}));
      ASSERT_TRUE(trace.ok());
      EXPECT_EQ(first_difference(describe(whole), describe(*trace)), "") << piece;
      EXPECT_EQ(describe_issues(*trace), "") << piece;
    }
  }
}

TEST(ChromeThreads, MayBeMoreThanThereAreBlocks) {
  for (const int events : {0, 1, 2, 3}) {
    read_with_any_threads(large_trace(events).text());
    const Trace by_many = read(large_trace(events).text(), {.threads = 64});
    const Trace by_one = read(large_trace(events).text(), {.threads = 1});
    EXPECT_EQ(by_many.tracks().size(), by_one.tracks().size());
  }
}

TEST(ChromeThreads, GiveTheSameTraceInBlocksOfAnySize) {
  for (const bool unescaped : {false, true}) {
    const ChromeText trace = large_trace(200, unescaped);
    for (const Layout layout : fixtures::kAllLayouts) {
      fixtures::read_in_ways(trace.text(layout), fixtures::reading_ways());
    }
    const std::string array = fixtures::array_text(trace.events, Layout::event_a_line);
    fixtures::read_in_ways(array, fixtures::reading_ways());
  }
}

TEST(ChromeThreads, GiveTheSameTraceOfElementsThatAreStrings) {
  for (const std::string name : {"a", "a\xff"}) {
    std::string text = R"([{"ph":"X","name":")" + name + R"(","ts":1})";
    for (std::size_t size = 0; size < 120; ++size) {
      text += ",\"" + std::string(size, 'x') + R"(",{"ph":"X","ts":2,"name":")" + name + "\"}";
    }
    const Trace trace = fixtures::read_in_ways(text + "]", fixtures::reading_ways());
    EXPECT_EQ(trace.events().size(), 121u);
  }
}

}  // namespace
}  // namespace tbtrace::readers
