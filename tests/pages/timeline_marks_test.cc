// Counters and instants in the document of a timeline, against the JSON of the file, which another
// library reads.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/views.h>

#include "base/utf8.h"
#include "fixtures/chrome_text.h"
#include "fixtures/hostile_names.h"
#include "fixtures/read_text.h"
#include "pages/written_view.h"
#include "wire/json_text.h"

namespace tbtrace {
namespace {

using fixtures::ChromeEvent;
using fixtures::JsonTree;
using fixtures::op;
using testing::ElementsAre;
using testing::IsEmpty;
using Curve = std::vector<std::pair<std::int64_t, double>>;

JsonTree header_of(const std::string& bytes) {
  std::size_t length = 0;
  for (std::size_t at = 4; at-- > 0;) {
    length = 256 * length + static_cast<unsigned char>(bytes[4 + at]);
  }
  return pages::parsed(bytes.substr(8, length));
}

JsonTree header_of(const Trace& trace) {
  const Result<std::string> document = view_document("timeline", trace, {});
  EXPECT_TRUE(document.ok());
  return header_of(*document);
}

Trace read(const std::vector<ChromeEvent>& events) {
  return fixtures::read(fixtures::trace_text(events), {.threads = 1});
}

double number_of(const JsonTree& tree) { return std::strtod(tree.text.c_str(), nullptr); }

std::vector<double> numbers_of(const JsonTree& tree, std::string_view key) {
  std::vector<double> numbers;
  for (const JsonTree& item : tree.find(key)->items) numbers.push_back(number_of(item));
  return numbers;
}

Curve curve_of(const JsonTree& counter) {
  const std::vector<double> times = numbers_of(counter, "times_ns");
  const std::vector<double> values = numbers_of(counter, "values");
  EXPECT_EQ(times.size(), values.size());
  Curve curve;
  for (std::size_t at = 0; at < times.size(); ++at) {
    curve.emplace_back(static_cast<std::int64_t>(times[at]), values[at]);
  }
  return curve;
}

ChromeEvent at(std::string_view phase, std::string_view name, std::string_view time_us) {
  return op(name, time_us).without("dur").without("cat").with("ph", fixtures::in_quotes(phase));
}

std::uint64_t unreadable_counters(const Trace& trace) {
  for (const Issue& issue : trace.issues()) {
    if (issue.id == "counter_unreadable") return issue.count;
  }
  return 0;
}

TEST(TimelineMarks, AreThoseOfTheFile) {
  std::mt19937 random(7);
  const auto below = [&](unsigned count) { return static_cast<int>(random() % count); };
  for (int round = 0; round < 40; ++round) {
    std::vector<ChromeEvent> events = {op("first", "0", "1000")};
    for (int number = below(120); number > 0; --number) {
      const std::string time = std::to_string(below(1000));
      ChromeEvent event = at(below(3) == 0 ? "i" : "C", "n" + std::to_string(below(4)), time);
      event.with("pid", std::to_string(1 + below(2))).with("tid", std::to_string(1 + below(3)));
      for (int series = below(3); series >= 0; --series) {
        const std::string value =
            std::to_string(below(2000) - 1000) + "." + std::to_string(below(9));
        event.arg(std::string(1, static_cast<char>('a' + series)), value);
      }
      events.push_back(event);
    }
    const std::string text = fixtures::trace_text(events);
    std::map<std::tuple<std::string, std::string>, Curve> counters;  // by process, name and series
    std::vector<std::tuple<std::string, std::int64_t, std::string>> instants;  // with their place
    const JsonTree file = pages::parsed(text);
    const JsonTree* const listed = file.find("traceEvents");
    for (const JsonTree& event : (listed != nullptr ? *listed : file).items) {
      const std::int64_t time = std::stoll(pages::member(event, "ts")) * 1000;
      const std::string name = pages::member(event, "name");
      const std::string process = "process " + pages::member(event, "pid");
      if (pages::member(event, "ph") == "i") {
        instants.emplace_back(process + " " + pages::member(event, "tid"), time, name);
      }
      if (pages::member(event, "ph") != "C") continue;
      const JsonTree& args = *event.find("args");
      for (std::size_t key = 0; key < args.keys.size(); ++key) {
        counters[{process, name + ": " + args.keys[key]}].emplace_back(time,
                                                                       number_of(args.items[key]));
      }
    }
    for (auto& [key, curve] : counters) {
      std::ranges::stable_sort(curve, {}, &Curve::value_type::first);
    }
    std::ranges::sort(instants);

    const JsonTree header = header_of(fixtures::read(text, {.threads = 1}));
    std::map<std::tuple<std::string, std::string>, Curve> found;
    for (const JsonTree& counter : header.find("counters")->items) {
      found[{pages::member(counter, "process"), pages::member(counter, "name")}] =
          curve_of(counter);
      EXPECT_EQ(pages::member(counter, "unit"), "");
    }
    EXPECT_EQ(found, counters);
    const JsonTree& marks = *header.find("marks");
    std::vector<std::tuple<std::string, std::int64_t, std::string>> found_marks;
    const std::vector<double> tracks = numbers_of(marks, "tracks");
    EXPECT_TRUE(std::ranges::is_sorted(tracks));
    for (std::size_t mark = 0; mark < tracks.size(); ++mark) {
      const JsonTree& track =
          header.find("tracks")->items.at(static_cast<std::size_t>(tracks[mark]));
      const std::string thread = pages::member(track, "name").substr(7);  // `thread 2`
      const auto name = static_cast<std::size_t>(numbers_of(marks, "names")[mark]);
      found_marks.emplace_back(pages::member(track, "process") + " " + thread,
                               numbers_of(marks, "times_ns")[mark],
                               marks.find("texts")->items.at(name).text);
    }
    std::ranges::sort(found_marks);
    EXPECT_EQ(found_marks, instants);
  }
}

TEST(TimelineMarks, KeepTheLowestAndHighestValueOfEachSpanOfTime) {
  std::mt19937 random(11);
  std::vector<ChromeEvent> events = {op("first", "0", "100000")};
  Curve all;
  for (int number = 0; number < 40'000; ++number) {
    // Some spans have many values, others none.
    const int time = static_cast<int>(random() % 100) < 80 ? static_cast<int>(random() % 9000)
                                                           : static_cast<int>(random() % 100'000);
    const double value = static_cast<int>(random() % 100'000) - 50'000;
    all.emplace_back(time * 1000, value);
    events.push_back(at("C", "load", std::to_string(time))
                         .arg("value", std::to_string(static_cast<int>(value))));
  }
  std::ranges::stable_sort(all, {}, &Curve::value_type::first);
  const JsonTree header = header_of(read(events));
  const JsonTree& counter = header.find("counters")->items.at(0);
  EXPECT_EQ(pages::member(counter, "name"), "load");
  EXPECT_EQ(pages::member(counter, "samples"), "40000");
  const Curve kept = curve_of(counter);
  EXPECT_LE(kept.size(), 16'000u);
  EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &Curve::value_type::first));
  EXPECT_EQ(kept.front(), all.front());
  EXPECT_EQ(kept.back(), all.back());
  // What a picture of 4,000 pixels shows, by brute force: per span the same ends.
  const auto ends_of = [&](const Curve& curve) {
    std::map<std::int64_t, std::pair<double, double>> ends;
    const double width = static_cast<double>(all.back().first - all.front().first) + 1;
    for (const auto& [time, value] : curve) {
      const auto span =
          static_cast<std::int64_t>(static_cast<double>(time - all.front().first) * (4000 / width));
      auto& [low, high] = ends.try_emplace(span, value, value).first->second;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    return ends;
  };
  EXPECT_EQ(ends_of(kept), ends_of(all));
}

TEST(TimelineMarks, CountsCountersThatAreNotNumbers) {
  const Trace trace = read({
      op("first", "0", "100"),
      at("C", "a", "1").arg("x", "1").arg("y", R"("high")"),
      at("C", "a", "2").arg("x", R"("2.5")").arg("y", "null"),
      at("C", "a", "3").arg("x", "[1]"),
      at("C", "a", "4"),
      at("C", "a", "5").with("args", "7"),
      at("C", "a", R"("soon")").arg("x", "3"),
      at("C", "a", "6").arg("x", "1e999"),
      at("C", "a", "7").arg("x", "true"),
      at("C", "a", "7").arg("x", R"("NaN")").arg("z", R"("-Infinity")"),
      at("C", "a", "8").arg("x", "9007199254740993"),
  });
  EXPECT_EQ(unreadable_counters(trace), 7u);
  const JsonTree header = header_of(trace);
  ASSERT_EQ(header.find("counters")->items.size(), 1u);
  EXPECT_THAT(
      curve_of(header.find("counters")->items[0]),
      ElementsAre(std::pair(1000, 1.0), std::pair(2000, 2.5), std::pair(8000, 9007199254740992.0)));
}

// As torch 2.15 writes them for `PerformanceMetricsConfig`.
TEST(TimelineMarks, NamesHardwareCountersWithoutTheirEmptySeries) {
  const auto sample = [](const char* time, const char* value) {
    return ChromeEvent()
        .with("ph", "\"C\"")
        .with("cat", "\"hardware_counters\"")
        .with("name", "\"sm__cycles_active.avg\"")
        .with("pid", "\"GPU 1 Counters\"")
        .with("ts", time)
        .arg("", value);
  };
  const Trace trace = read({op("kernel", "1").with("cat", "\"kernel\"").with("pid", "1"),
                            sample("10", "55.5"), sample("20", "75")});
  EXPECT_EQ(unreadable_counters(trace), 0u);
  const JsonTree header = header_of(trace);
  ASSERT_EQ(header.find("counters")->items.size(), 1u);
  const JsonTree& counter = header.find("counters")->items[0];
  EXPECT_EQ(pages::member(counter, "name"), "sm__cycles_active.avg");
  EXPECT_EQ(pages::member(counter, "process"), "GPU 1 Counters");
  EXPECT_THAT(numbers_of(counter, "values"), ElementsAre(55.5, 75));
}

TEST(TimelineMarks, TellsCountersApartByTheirIds) {
  const JsonTree header = header_of(read({
      op("first", "0", "100"),
      at("C", "queue", "1").with("id", "4").arg("value", "1"),
      at("C", "queue", "1").with("id", R"("x")").arg("value", "2"),
      at("C", "queue", "1").arg("value", "3"),
      at("C", "load", "1").arg("load", "4"),
  }));
  std::vector<std::string> names;
  for (const JsonTree& counter : header.find("counters")->items) {
    names.push_back(pages::member(counter, "name"));
  }
  EXPECT_THAT(names, ElementsAre("load", "queue", "queue[4]", "queue[x]"));
}

TEST(TimelineMarks, HasNamesAndArgumentsAsTheyAre) {
  for (const std::string_view name : fixtures::kHostileNames) {
    std::string quoted;
    wire::append_json_string(quoted, name);
    const std::string valid = to_utf8(name);
    const JsonTree header = header_of(
        read({op("first", "0", "100"), at("i", "m", "5").with("name", quoted).arg("k", quoted),
              at("C", "m", "5").with("name", quoted).arg("v", "1")}));
    const JsonTree& marks = *header.find("marks");
    EXPECT_EQ(marks.find("texts")->items.at(0).text, valid);
    const JsonTree arguments = pages::parsed(marks.find("arguments")->items.at(0).text);
    EXPECT_EQ(pages::member(arguments, "k"), valid);
    EXPECT_EQ(pages::member(header.find("counters")->items.at(0), "name"), valid + ": v");
  }
}

TEST(TimelineMarks, LeavesOutWhatSaysWhenARecordingBegan) {
  const JsonTree header = header_of(read({
      op("first", "0", "100"),
      at("i", "Iteration Start: PyTorch Profiler", "0").with("pid", R"("Traces")"),
      at("i", "Record Window End", "100").with("pid", R"("")").with("tid", R"("")"),
      at("i", "[memory]", "5").arg("Bytes", "4").arg("Device Type", "0"),
  }));
  EXPECT_THAT(header.find("marks")->find("names")->items, IsEmpty());
  EXPECT_EQ(header.find("tracks")->items.size(), 1u);
}

TEST(TimelineMarks, LeavesFlowsAsTheyAre) {
  const auto flow = [](std::string_view phase, std::string_view time) {
    return at(phase, "fwdbwd", time).with("cat", R"("fwdbwd")").with("id", "1");
  };
  const std::vector<ChromeEvent> ranges = {op("a", "10"), op("b", "20"), flow("s", "10"),
                                           flow("f", "20")};
  std::vector<ChromeEvent> with_instant = ranges;
  with_instant.push_back(at("i", "m", "12").with("tid", "9"));
  const auto counts_of = [](const std::vector<ChromeEvent>& events) {
    const JsonTree header = header_of(read(events));
    std::vector<std::string> counts;
    for (const JsonTree& flows : header.find("flows")->items) {
      counts.push_back(pages::member(flows, "count"));
    }
    return counts;
  };
  EXPECT_THAT(counts_of(ranges), testing::Contains("1"));
  EXPECT_EQ(counts_of(with_instant), counts_of(ranges));
}

TEST(TimelineMarks, CountsTheInstantsThatALimitLeavesOut) {
  std::vector<ChromeEvent> events = {op("first", "0", "100000")};
  for (int number = 0; number < 25'000; ++number) {
    events.push_back(at("i", "m", std::to_string(number)));
  }
  const JsonTree header = header_of(read(events));
  const JsonTree& marks = *header.find("marks");
  EXPECT_EQ(pages::member(marks, "left_out"), "15000");
  EXPECT_EQ(marks.find("times_ns")->items.size(), 10'000u);
}

TEST(TimelineMarks, HasWhatHoldsInAPart) {
  const Trace trace =
      read({op("first", "0", "100"), at("C", "a", "10").arg("value", "1"),
            at("C", "a", "20").arg("value", "2"), at("C", "a", "30").arg("value", "3"),
            at("i", "m", "25"), at("i", "m", "30"), at("C", "b", "50").arg("value", "3")});
  const Result<std::string> part = timeline_part(trace, 22'000, 30'000);
  ASSERT_TRUE(part.ok());
  const JsonTree header = header_of(*part);
  ASSERT_EQ(header.find("counters")->items.size(), 1u);
  EXPECT_EQ(pages::list_of(header.find("counters")->items[0], "times_ns"), "20000");
  EXPECT_EQ(pages::list_of(*header.find("marks"), "times_ns"), "25000");
}

}  // namespace
}  // namespace tbtrace
