// Files that were cut, or in which bytes were changed: what is whole is read, the rest is counted.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::ChromeText;
using fixtures::difference_between;
using fixtures::difference_between_threads;
using fixtures::issue_counts;
using fixtures::Layout;
using fixtures::names;
using fixtures::numbers_of_threads;
using fixtures::op;
using fixtures::place_step;
using fixtures::random_rounds;
using fixtures::read;
using fixtures::read_in_ways;
using fixtures::reading_ways;
using fixtures::some_reading_ways;
using fixtures::try_read;
using testing::ElementsAre;
using testing::HasSubstr;

ChromeText small_trace() {
  ChromeText trace;
  trace.before = {{"schemaVersion", "1"}, {"deviceProperties", "[{\"id\": 0}]"}};
  for (int row = 0; row < 6; ++row) {
    const std::string number = std::to_string(row);
    ChromeEvent event = op("op " + number, "1" + number + ".500", "2.250");
    event.arg("External id", "66" + number).arg("Input type", "[\"float\", \"\"]");
    if (row % 2 == 0) event.arg("Call stack", "\"a.py(1): f;\"").arg("more", "{\"x\": [1, {}]}");
    trace.events.push_back(event);
  }
  trace.events.push_back(op("last", "20", "1"));
  trace.after = {{"traceName", "\"t.json\""}, {"baseTimeNanoseconds", "5"}};
  return trace;
}

/// Where each event ends, behind its brace.
std::vector<std::size_t> ends_of_events(const std::vector<ChromeEvent>& events, Layout layout,
                                        std::string_view text) {
  std::vector<std::size_t> ends;
  std::size_t at = 0;
  for (const ChromeEvent& event : events) {
    const std::string part = fixtures::event_text(event, layout);
    at = text.find(part, at) + part.size();
    ends.push_back(at);
  }
  return ends;
}

std::size_t whole_events(const std::vector<std::size_t>& ends, std::size_t cut) {
  return static_cast<std::size_t>(
      std::count_if(ends.begin(), ends.end(), [&](std::size_t end) { return end <= cut; }));
}

TEST(ChromeDamage, OfACutKeepsEveryEventBeforeIt) {
  const ChromeText trace = small_trace();
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = trace.text(layout);
    const std::size_t array = text.find('[', text.find("\"traceEvents\""));
    const std::size_t end = text.rfind('}') + 1;
    const std::vector<std::size_t> ends = ends_of_events(trace.events, layout, text);
    for (std::size_t cut = 0; cut <= text.size(); cut += place_step()) {
      const std::string part = text.substr(0, cut);
      ASSERT_EQ(difference_between(part, some_reading_ways(cut)), "") << part;
      const Result<Trace> result = try_read(part);
      if (cut <= array) {
        ASSERT_FALSE(result.ok()) << part;
        continue;
      }
      ASSERT_TRUE(result.ok()) << result.status().message() << " in " << part;
      ASSERT_EQ(result->events().size(), whole_events(ends, cut)) << part;
      const std::string expected = cut >= end ? "" : "input_truncated 1";
      ASSERT_EQ(issue_counts(*result), expected) << part;
    }
  }
}

TEST(ChromeDamage, OfACutOfABareArrayIsNoneBetweenEvents) {
  const std::vector<ChromeEvent> events = small_trace().events;
  for (const Layout layout : fixtures::kAllLayouts) {
    const std::string text = fixtures::array_text(events, layout);
    const std::vector<std::size_t> ends = ends_of_events(events, layout, text);
    for (std::size_t cut = 1; cut <= text.size(); cut += place_step()) {
      const std::string part = text.substr(0, cut);
      const std::size_t whole = whole_events(ends, cut);
      const std::size_t last_end = whole == 0 ? 1 : ends[whole - 1];
      const bool between = part.find_first_not_of(" \n,]", last_end) == std::string::npos;
      ASSERT_EQ(difference_between(part, some_reading_ways(cut)), "") << part;
      const Trace trace = read(part);
      ASSERT_EQ(trace.events().size(), whole) << part;
      ASSERT_EQ(issue_counts(trace), between ? "" : "input_truncated 1") << part;
    }
  }
}

TEST(ChromeDamage, OfACutIsFoundWhereTheWholePartEnds) {
  const std::string text = small_trace().text();
  const std::vector<std::size_t> ends =
      ends_of_events(small_trace().events, Layout::minified, text);
  const Trace trace = read(text.substr(0, ends[2] + 30));
  ASSERT_EQ(trace.issues().size(), 1u);
  ASSERT_EQ(trace.issues()[0].offsets.size(), 1u);
  EXPECT_GE(trace.issues()[0].offsets[0], ends[2]);
  EXPECT_LE(trace.issues()[0].offsets[0], ends[2] + 30);
}

/// How many events of `expected` are not among `found`.
std::size_t lost(const std::vector<std::string>& expected, const std::vector<std::string>& found) {
  return static_cast<std::size_t>(
      std::count_if(expected.begin(), expected.end(), [&](const std::string& name) {
        return std::find(found.begin(), found.end(), name) == found.end();
      }));
}

/// Changes every byte and sees which events are gone. The first event is no example for the others:
/// it shows how the file separates events, and what it takes with it is not asked here.
void expect_small_losses(Layout layout, std::size_t most_lost) {
  const ChromeText trace = small_trace();
  const std::string text = trace.text(layout);
  const std::vector<std::string> expected = names(read(text));
  const std::vector<std::size_t> ends = ends_of_events(trace.events, layout, text);
  std::size_t total = 0;
  std::size_t cases = 0;
  for (std::size_t at = 0; at < text.size(); at += place_step()) {
    std::size_t kind = at;
    for (const char byte :
         {'"', '{', '}', '[', ']', ',', '\\', '\0', static_cast<char>(text[at] ^ 1)}) {
      std::string damaged = text;
      damaged[at] = byte;
      if (kind++ % 27 == 0) {  // starting threads takes longer than all else
        ASSERT_EQ(difference_between(damaged, numbers_of_threads(64)), "") << damaged;
      }
      const Result<Trace> result = try_read(damaged, {.threads = 1});
      if (at < ends.front() + 2 || at >= ends.back()) continue;
      ASSERT_TRUE(result.ok()) << damaged;
      const std::size_t missing = lost(expected, names(*result));
      // A bracket that closes the array ends it, and what follows is nobody's; one that opens an
      // array makes the events that follow its elements.
      if ((byte == ']' || byte == '[') && missing > most_lost) {
        ASSERT_NE(issue_counts(*result), "") << damaged;
        continue;
      }
      ASSERT_LE(missing, most_lost) << "byte " << at << " is now '" << byte << "' in\n" << damaged;
      total += missing;
      ++cases;
    }
  }
  EXPECT_LT(total, cases) << "most changes take one event or none";
}

TEST(ChromeDamage, OfOneByteLosesHardlyMoreThanItsEvent) {
  for (const Layout layout : fixtures::kAllLayouts) {
    ASSERT_NO_FATAL_FAILURE(expect_small_losses(layout, 3));
  }
}

TEST(ChromeDamage, BetweenEventsLosesNone) {
  for (const std::string_view garbage :
       {"xxx", "@@@ 17", "\"text\"", "}", "}}}", "nul", "17", "<<<<<<< HEAD\n", "\xff\xfe"}) {
    for (const Layout layout : fixtures::kAllLayouts) {
      const ChromeText trace = small_trace();
      std::string text = trace.text(layout);
      const std::size_t end = ends_of_events(trace.events, layout, text)[2];
      text.insert(end, "," + std::string(garbage));
      const Trace damaged = read_in_ways(text, reading_ways());
      EXPECT_EQ(names(damaged), names(read(trace.text(layout)))) << garbage << " in\n" << text;
      const bool is_kinetos = layout == Layout::kineto_lines || layout == Layout::kineto_inline;
      const bool is_json = garbage == "17" || garbage == "\"text\"";
      const std::string expected =
          is_json && !is_kinetos ? "event_incomplete 1" : "event_unreadable 1";
      EXPECT_EQ(issue_counts(damaged), expected) << garbage << " in\n" << text;
      ASSERT_EQ(damaged.issues().size(), 1u);
      EXPECT_GT(damaged.issues()[0].offsets[0], end - 1);
      EXPECT_LE(damaged.issues()[0].offsets[0], end + 3);
      EXPECT_EQ(damaged.base_time_ns(), 5) << "members after the events are read";
    }
  }
}

TEST(ChromeDamage, OfAnEventCutShortBeforeTheNextLosesFewEvents) {
  for (const Layout layout : fixtures::kAllLayouts) {
    const ChromeText trace = small_trace();
    const std::string text = trace.text(layout);
    const std::vector<std::size_t> ends = ends_of_events(trace.events, layout, text);
    const std::size_t start = ends[2] - fixtures::event_text(trace.events[2], layout).size();
    for (std::size_t kept = 1; start + kept < ends[2]; kept += place_step()) {
      // As when a process dies while it writes, and another goes on.
      const std::string damaged = text.substr(0, start + kept) + text.substr(ends[2]);
      ASSERT_EQ(difference_between_threads(damaged), "") << damaged;
      const Trace result = read(damaged);
      const std::vector<std::string> found = names(result);
      // A string that is cut may go on until the end of the next one of its kind.
      for (const std::string_view name : {"op 0", "op 1", "op 5", "last"}) {
        ASSERT_THAT(found, testing::Contains(name)) << damaged;
      }
      if (found.size() < 6) {
        ASSERT_NE(issue_counts(result), "") << damaged;
      }
    }
  }
}

TEST(ChromeDamage, IsReadTheSameByAnyNumberOfThreadsWhateverTheBytes) {
  for (unsigned seed = 0; seed < random_rounds(3000u); ++seed) {
    const std::string text = small_trace().text(fixtures::kAllLayouts[seed % 6]);
    std::mt19937 random(seed);
    std::string damaged = text;
    for (auto changes = 1 + random() % 12; changes > 0; --changes) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged.erase(at, 1 + random() % 40);
          break;
        case 2: {
          const std::size_t from = random() % damaged.size();
          damaged.insert(at, damaged.substr(from, random() % 60));
          break;
        }
        default:
          damaged.insert(at, 1, "\"\\{}[],:\n"[random() % 9]);
      }
      if (damaged.empty()) damaged = " ";
    }
    ASSERT_EQ(difference_between_threads(damaged), "") << damaged;
  }
}

TEST(ChromeDamage, OfNestingWithoutEndIsCounted) {
  for (const char bracket : {'[', '{'}) {
    const std::string deep(100'000, bracket);
    const std::string text = fixtures::trace_text({op("a"), op("b").with("deep", deep), op("c")});
    const Trace trace = read_in_ways(text, reading_ways(1000));
    EXPECT_THAT(names(trace), testing::Contains("a"));
    EXPECT_NE(issue_counts(trace), "");
  }
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(names(read(fixtures::trace_text({op("a").with("deep", nested), op("b")}))),
              ElementsAre("a", "b"));
}

TEST(ChromeDamage, OfNestedValuesIsReadTheSameInEveryWay) {
  for (const std::string_view value : {R"([1, "a" "b",,{1}])", "[1}", "{1]", "[nul]", "[[[}",
                                       "{\"a\"}", "[\"a\tb\"]", "[1,]", "{\"a\":}"}) {
    for (const std::size_t blanks : {0u, 60u, 200u, 2000u}) {
      const std::string padded =
          std::string(value.substr(0, 1)) + std::string(blanks, ' ') + std::string(value.substr(1));
      const std::string text = fixtures::trace_text(
          {op("a").arg("own", padded).with("last", "1"), op("b"), op("c"), op("d")});
      read_in_ways(text, reading_ways());
    }
  }
}

}  // namespace
}  // namespace tbtrace::readers
