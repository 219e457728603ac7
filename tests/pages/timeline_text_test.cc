// The document of a timeline, read by a reader of its own.
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/views.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "pages/written_view.h"

namespace tbtrace {
namespace {

using fixtures::op;
using testing::ElementsAre;
using testing::HasSubstr;

const ReadOptions kAllArguments = {.threads = 1, .arguments = ArgumentSet::all()};

/// A document, with its columns as they stand in it.
struct Read {
  fixtures::JsonTree header;
  std::map<std::string, std::vector<std::int64_t>> columns;
};

Read read_document(const std::string& bytes) {
  EXPECT_EQ(bytes.substr(0, 4), "TBTL");
  std::size_t length = 0;
  for (int at = 3; at >= 0; --at) {
    length = 256 * length + static_cast<unsigned char>(bytes[4 + static_cast<std::size_t>(at)]);
  }
  Read read{pages::parsed(bytes.substr(8, length)), {}};
  std::size_t place = 8 + length;
  for (const fixtures::JsonTree& column : read.header.find("columns")->items) {
    const std::size_t count = std::stoul(pages::member(column, "count"));
    const std::size_t planes = std::stoul(pages::member(column, "planes"));
    std::vector<std::int64_t>& values = read.columns[pages::member(column, "name")];
    for (std::size_t row = 0; row < count; ++row) {
      std::uint64_t value = 0;
      for (std::size_t plane = planes; plane-- > 0;) {
        value = value << 8 | static_cast<unsigned char>(bytes[place + plane * count + row]);
      }
      const bool is_signed = pages::member(column, "signed") == "true";
      values.push_back(is_signed && value % 2 == 1 ? -static_cast<std::int64_t>(value / 2) - 1
                       : is_signed                 ? static_cast<std::int64_t>(value / 2)
                                                   : std::bit_cast<std::int64_t>(value));
    }
    place += planes * count;
  }
  EXPECT_EQ(place, bytes.size());
  return read;
}

Read timeline_of(const Trace& trace, const ViewLimits& limits = {}) {
  const Result<std::string> document = view_document("timeline", trace, limits);
  EXPECT_TRUE(document.ok());
  return read_document(*document);
}

Trace trace_of(const std::vector<fixtures::ChromeEvent>& events) {
  return fixtures::read(fixtures::trace_text(events), kAllArguments);
}

TEST(TimelineText, NamesTheRangesThatDidNotEnd) {
  const auto open = [](fixtures::ChromeEvent event) { return event.arg("finished", R"("false")"); };
  const Trace trace = trace_of({op("a", "10", "5"), open(op("b", "20", "80")), op("c", "30", "5"),
                                open(op("d", "40", "60")), open(op("e", "50", "1"))});
  EXPECT_THAT(timeline_of(trace).columns.at("unfinished"), ElementsAre(1, 2, 1));
  EXPECT_THAT(timeline_of(trace, {.ranges = 2}).columns.at("unfinished"), ElementsAre(0, 1))
      << "the longest two";
  EXPECT_EQ(timeline_of(trace_of({op("a", "10", "5")})).columns.count("unfinished"), 0u);
}

TEST(TimelineText, HasStartsAsDifferencesOnEachTrack) {
  const Read read = timeline_of(trace_of(
      {op("a", "10", "5"), op("b", "11.5", "1"), op("a", "300"), op("c", "20").with("tid", "2")}));
  EXPECT_THAT(read.columns.at("start"), ElementsAre(0, 1500, 288500, 10000));
  EXPECT_THAT(read.columns.at("duration"), ElementsAre(5000, 1000, 5000, 5000));
  EXPECT_THAT(read.columns.at("name"), ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(read.columns.at("row"), ElementsAre(0, 1, 0, 0));
  EXPECT_EQ(pages::list_of(read.header, "names"), "a b c");
  EXPECT_EQ(pages::member(read.header, "ranges"), "4");
}

TEST(TimelineText, RoundsBothEndsDownToItsUnit) {
  const Trace trace = trace_of({op("a", "10", "5.05"), op("b", "10.05", "0.06")});
  const Read read = timeline_of(trace, {.time_unit_ns = 100});
  EXPECT_THAT(read.columns.at("start"), ElementsAre(0, 0));
  EXPECT_THAT(read.columns.at("duration"), ElementsAre(50, 1));
}

TEST(TimelineText, CountsWhatALimitLeavesOut) {
  const Trace trace = trace_of({op("a", "10", "1"), op("b", "20", "5"), op("c", "30", "3")});
  const Read read = timeline_of(trace, {.ranges = 2});
  EXPECT_EQ(pages::member(read.header, "left_out"), "1");
  EXPECT_EQ(pages::member(read.header, "left_out_ns"), "1000");
  EXPECT_THAT(read.columns.at("duration"), ElementsAre(5000, 3000));
  EXPECT_EQ(pages::member(read.header.find("tracks")->items.at(0), "ranges"), "2");
}

TEST(TimelineText, HasArgumentsIfTheyAreAskedFor) {
  const Trace trace =
      trace_of({op("a", "10", "1").arg("Input Dims", "[[2, 3]]"), op("b", "20", "5")});
  EXPECT_EQ(pages::member(timeline_of(trace).header, "arguments_left_out"), "true");
  const Read read = timeline_of(trace, {.range_arguments = true});
  EXPECT_EQ(pages::member(read.header, "arguments_left_out"), "false");
  const fixtures::JsonTree& argument = read.header.find("arguments")->items.at(0);
  EXPECT_EQ(pages::member(argument, "key"), "Input Dims");
  EXPECT_THAT(pages::list_of(argument, "texts"), HasSubstr("[[2"));
  EXPECT_THAT(read.columns.at("argument.Input Dims"), ElementsAre(1, 0));
}

TEST(TimelineText, KeepsIdsThatSeldomRepeatAsNumbers) {
  std::vector<fixtures::ChromeEvent> events;
  for (int at = 0; at < 5000; ++at) {
    events.push_back(op("a", std::to_string(10 * at)));
    if (at != 3) events.back().arg("External id", std::to_string(7 * at - 100));
  }
  const Read read = timeline_of(trace_of(events), {.range_arguments = true});
  const std::vector<std::int64_t>& differences = read.columns.at("argument.External id");
  const std::vector<std::int64_t>& has = read.columns.at("has.External id");
  std::int64_t value = 0;
  for (std::size_t at = 0; at < 5000; ++at) {
    value += differences[at];
    EXPECT_EQ(has[at], at == 3 ? 0 : 1);
    if (has[at] == 0) continue;
    EXPECT_EQ(value, 7 * static_cast<std::int64_t>(at) - 100);
  }
}

TEST(TimelineText, SaysWhyItIsEmpty) {
  const Trace trace = trace_of({op("a").with("ph", "\"i\"")});
  EXPECT_EQ(pages::member(timeline_of(trace).header, "empty"), "the trace has no ranges");
}

TEST(TimelineText, HasAPartOfTheTime) {
  const Trace trace = trace_of({op("a", "10", "1"), op("b", "20", "5"), op("c", "30", "3")});
  const Result<std::string> part = timeline_part(trace, 11'000, 12'000);
  ASSERT_TRUE(part.ok());
  const Read read = read_document(*part);
  EXPECT_EQ(pages::list_of(read.header, "names"), "b");
  EXPECT_EQ(pages::list_of(read.header, "part"), "11000 12000");
  EXPECT_EQ(pages::member(read.header, "origin_ns"), "10000");
  EXPECT_FALSE(timeline_part(trace, 5, 5).ok());
}

TEST(TimelineText, HasTheArgumentsOfARange) {
  const Trace trace =
      trace_of({op("a", "10", "1").arg("Input Dims", "[[2, 3]]").arg("External id", "9")});
  const Result<std::string> document =
      range_document(trace, {.start_ns = 0, .duration_ns = 1000, .name = "a"});
  ASSERT_TRUE(document.ok());
  EXPECT_THAT(*document, HasSubstr(R"({"key": "External id", "unit": "", "value": 9})"));
  EXPECT_THAT(*document, HasSubstr(R"("value": [[2, 3]])"));
  EXPECT_FALSE(range_document(trace, {.start_ns = 1, .duration_ns = 1000, .name = "a"}).ok());
}

}  // namespace
}  // namespace tbtrace
