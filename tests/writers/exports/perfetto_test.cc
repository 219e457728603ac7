#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/trace_export.h>

#include "base/utf8.h"
#include "fixtures/exported_file.h"
#include "fixtures/hostile_names.h"
#include "fixtures/proto_fields.h"
#include "fixtures/read_text.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"
#include "writers/exports/perfetto_fields.h"

namespace tbtrace::writers {
namespace {

using fixtures::ProtoField;
using fixtures::ProtoFields;

namespace event = perfetto::event;
namespace interned = perfetto::interned;
namespace packet = perfetto::packet;

/// What a test wants to know of a file.
struct File {
  explicit File(std::string bytes) : text(std::move(bytes)) {
    for (const ProtoField& each : ProtoFields(text)) {
      const ProtoFields fields(each.bytes);
      const std::uint64_t sequence = fields.first(packet::kSequenceId).value;
      if (fields.has(packet::kClockSnapshot))
        snapshots.push_back(fields.first(packet::kClockSnapshot).bytes);
      if (fields.has(packet::kTrackDescriptor)) {
        const ProtoFields track(fields.first(packet::kTrackDescriptor).bytes);
        tracks.emplace(track.first(perfetto::track::kUuid).value, track);
      }
      for (const ProtoField& table : ProtoFields(fields.first(packet::kInternedData).bytes)) {
        const ProtoFields entry(table.bytes);
        texts[{sequence, table.number, entry.first(interned::kIid).value}] =
            entry.first(interned::kValue).bytes;
      }
      if (!fields.has(packet::kTrackEvent)) continue;
      const ProtoFields one(fields.first(packet::kTrackEvent).bytes);
      std::string line = std::to_string(fields.first(packet::kTimestamp).value) + " " +
                         std::to_string(one.first(event::kTrack).value);
      const std::uint64_t type = one.first(event::kType).value;
      if (type == event::kEnd) {
        line += " end";
      } else if (type == event::kCounter) {
        line += " = " + std::to_string(one.first(event::kCounterValue).value);
      } else {
        line +=
            " " + std::string(texts[{sequence, interned::kName, one.first(event::kNameIid).value}]);
      }
      for (const ProtoField& flow : one.all(event::kFlow))
        line += " >" + std::to_string(flow.value);
      for (const ProtoField& flow : one.all(event::kEndOfFlow))
        line += " <" + std::to_string(flow.value);
      events.push_back(line);
    }
  }

  std::string text;
  std::vector<std::string> events;
  std::vector<std::string_view> snapshots;
  std::map<std::uint64_t, ProtoFields> tracks;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>, std::string_view> texts;
};

struct Exported {
  File file;
  ExportReport report;
};

Exported exported(const Trace& trace) {
  fixtures::ExportedFile made = fixtures::exported_file(trace, ExportFormat::perfetto);
  return {File(std::move(made.text)), std::move(made.report)};
}

TEST(PerfettoTest, HasRangesAsPairsWithTimesFromTheFirst) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "outer", .start = 1000, .duration = 50});
  fixtures::add(builder, {.name = "inner", .start = 1010, .duration = 40});
  fixtures::add(builder, {.name = "next", .start = 1050, .duration = 1});
  const Exported got = exported(fixtures::finished(builder));
  const std::vector<std::string> expected = {"0 2 outer", "10 2 inner", "50 2 end",
                                             "50 2 end",  "50 2 next",  "51 2 end"};
  EXPECT_EQ(got.file.events, expected);
  EXPECT_EQ(got.report.ranges, 3U);
  EXPECT_EQ(got.report.bytes, got.file.text.size());
}

TEST(PerfettoTest, PutsWorkThatOverlapsOnASecondTrackOfItsStream) {
  TraceBuilder builder;
  fixtures::add(builder, {.category = "kernel", .name = "a", .start = 0, .duration = 10});
  fixtures::add(builder, {.category = "kernel", .name = "b", .start = 5, .duration = 10});
  const Exported got = exported(fixtures::finished(builder));
  ASSERT_EQ(got.file.events.size(), 4U);
  std::vector<ProtoFields> lanes;
  for (const auto& [uuid, track] : got.file.tracks) {
    if (track.has(perfetto::track::kMergeKey)) lanes.push_back(track);
  }
  ASSERT_EQ(lanes.size(), 2U);
  for (const std::uint32_t field :
       {perfetto::track::kParent, perfetto::track::kMergeKey, perfetto::track::kSiblingRank}) {
    EXPECT_EQ(lanes[0].first(field).value, lanes[1].first(field).value) << field;
  }
  EXPECT_EQ(lanes[0].first(perfetto::track::kName).bytes,
            lanes[1].first(perfetto::track::kName).bytes);
}

TEST(PerfettoTest, LeadsFromCallsToWorkUnlessItBeginsBefore) {
  TraceBuilder builder;
  fixtures::add(
      builder,
      {.category = "cuda_runtime", .name = "launch", .start = 10, .duration = 2, .correlation = 1});
  fixtures::add(
      builder,
      {.category = "cuda_runtime", .name = "late", .start = 50, .duration = 2, .correlation = 2});
  fixtures::add(builder, {.category = "kernel",
                          .name = "a",
                          .start = 20,
                          .duration = 5,
                          .thread = 7,
                          .process = 0,
                          .correlation = 1});
  fixtures::add(builder, {.category = "kernel",
                          .name = "b",
                          .start = 49,
                          .duration = 5,
                          .thread = 7,
                          .process = 0,
                          .correlation = 2});
  const Exported got = exported(fixtures::finished(builder));
  std::vector<std::string> flows;
  for (const std::string& line : got.file.events) {
    if (line.find_first_of("<>") != std::string::npos) flows.push_back(line);
  }
  const std::vector<std::string> expected = {"0 2 launch >1", "10 4 a <1"};
  EXPECT_EQ(flows, expected);
  EXPECT_EQ(got.report.flows, 1U);
  EXPECT_EQ(got.report.left_out.at("flows to a range that begins before their start"), 1U);
}

TEST(PerfettoTest, HasTheMemoryOfEachDevice) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "op", .start = 0, .duration = 100});
  MemoryRecord record;
  record.track = fixtures::track(builder, 1, 1);
  for (const auto& [time, bytes, total] : {std::tuple{20, -512, 0}, std::tuple{10, 512, 512}}) {
    record.time_ns = time;
    record.bytes = bytes;
    record.total_allocated_bytes = total;
    builder.add_memory(record);
  }
  const Exported got = exported(fixtures::finished(builder));
  const std::vector<std::string> expected = {"0 2 op", "100 2 end", "10 3 = 512", "20 3 = 0"};
  EXPECT_EQ(got.file.events, expected);
  EXPECT_EQ(got.file.tracks.at(3).first(perfetto::track::kName).bytes, "allocated on cpu");
  EXPECT_EQ(got.report.counter_values, 2U);
}

// Protobuf refuses a whole file with one text that is not UTF-8.
TEST(PerfettoTest, HasTextsInUtf8WhateverNamesAre) {
  TraceBuilder builder;
  std::int64_t at = 0;
  for (const std::string_view name : fixtures::kHostileNames) {
    fixtures::add(builder, {.category = name, .name = name, .start = at += 10, .duration = 5});
  }
  const Exported got = exported(fixtures::finished(builder));
  std::size_t names = 0;
  for (const auto& [key, text] : got.file.texts) {
    EXPECT_TRUE(is_utf8(text)) << text;
    if (std::get<1>(key) == interned::kName) ++names;
  }
  EXPECT_EQ(names, fixtures::kHostileNames.size());
  EXPECT_EQ(got.report.ranges, fixtures::kHostileNames.size());
}

TEST(PerfettoTest, TakesTimesBeforeZero) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "op", .start = -(std::int64_t{1} << 61), .duration = 10});
  fixtures::add(builder, {.name = "late", .start = std::int64_t{1} << 61, .duration = 10});
  const Exported got = exported(fixtures::finished(builder));
  ASSERT_EQ(got.file.events.size(), 4U);
  EXPECT_EQ(got.file.events[0], "0 2 op");
  EXPECT_EQ(got.file.events[2], std::to_string(std::uint64_t{1} << 62) + " 2 late");
}

TEST(PerfettoTest, SaysWhichWallTimeZeroIs) {
  const Trace trace = fixtures::read(
      R"({"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 5, "dur": 1}]})");
  const Exported got = exported(trace);
  ASSERT_EQ(got.file.snapshots.size(), 1U);
  std::map<std::uint64_t, std::uint64_t> clocks;
  for (const ProtoField& each :
       ProtoFields(got.file.snapshots.front()).all(perfetto::clock::kClocks)) {
    const ProtoFields one(each.bytes);
    clocks[one.first(perfetto::clock::kId).value] = one.first(perfetto::clock::kTime).value;
  }
  const std::map<std::uint64_t, std::uint64_t> expected = {
      {1, 1700000000000005000}, {6, 1700000000000005000}, {64, 0}};
  EXPECT_EQ(clocks, expected);
}

}  // namespace
}  // namespace tbtrace::writers
