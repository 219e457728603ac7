#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/trace_export.h>

#include "fixtures/exported_file.h"
#include "fixtures/hostile_names.h"
#include "fixtures/proto_fields.h"
#include "fixtures/trace_rows.h"
#include "io/text_sink.h"
#include "trace/trace_builder.h"
#include "writers/exports/exporter.h"

namespace tbtrace::writers {
namespace {

using fixtures::ProtoField;
using fixtures::ProtoFields;

std::string profile_of(const Trace& trace) {
  return io::text_of([&](io::TextSink& out) {
    const std::unique_ptr<Exporter> exporter = pprof_exporter();
    ExportReport report;
    EXPECT_TRUE(exporter->add(ExportedTrace(trace, ""), out, report).ok());
    EXPECT_TRUE(exporter->finish(out, report).ok());
  });
}

std::vector<std::uint64_t> packed(std::string_view bytes) {
  std::vector<std::uint64_t> numbers = {0};
  int shift = 0;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    numbers.back() |= std::uint64_t{byte & 127U} << shift;
    shift += 7;
    if (byte > 127) continue;
    shift = 0;
    numbers.push_back(0);
  }
  numbers.pop_back();
  return numbers;
}

/// `k<inner<outer 1 0 7 step=3 stream=...`: a line for each sample.
std::vector<std::string> samples_of(std::string_view bytes) {
  const ProtoFields profile(bytes);
  const std::vector<ProtoField> texts = profile.all(6);
  std::vector<std::string> lines;
  for (const ProtoField& each : profile.all(2)) {
    const ProtoFields sample(each.bytes);
    std::string& line = lines.emplace_back();
    for (const std::uint64_t frame : packed(sample.first(1).bytes)) {
      line += (line.empty() ? "" : "<") + std::string(texts.at(frame).bytes);
    }
    for (const std::uint64_t value : packed(sample.first(2).bytes)) {
      line += " " + std::to_string(value);
    }
    for (const ProtoField& label : sample.all(3)) {
      const ProtoFields parts(label.bytes);
      line += " " + std::string(texts.at(parts.first(1).value).bytes) + "=";
      line += parts.has(2) ? std::string(texts.at(parts.first(2).value).bytes)
                           : std::to_string(parts.first(3).value);
    }
  }
  return lines;
}

TEST(PprofTest, HasTimesByStackWithLabels) {
  TraceBuilder builder;
  fixtures::add(
      builder,
      {.category = "user_annotation", .name = "ProfilerStep#3", .start = 0, .duration = 100});
  fixtures::add(builder, {.name = "op", .start = 10, .duration = 50});
  fixtures::add(builder, {.name = "op", .start = 70, .duration = 5});
  fixtures::add(
      builder,
      {.category = "cuda_runtime", .name = "launch", .start = 20, .duration = 2, .correlation = 1});
  fixtures::add(builder, {.category = "kernel",
                          .name = "k",
                          .start = 130,
                          .duration = 7,
                          .thread = 7,
                          .process = 0,
                          .correlation = 1});
  fixtures::add(builder, {.category = "kernel",
                          .name = "alone",
                          .start = 200,
                          .duration = 9,
                          .thread = 7,
                          .process = 0});
  const std::vector<std::string> expected = {
      "ProfilerStep#3 1 45 0 step=3 thread=thread 1 process=process 1",
      "op<ProfilerStep#3 2 53 0 step=3 thread=thread 1 process=process 1",
      "launch<op<ProfilerStep#3 1 2 0 step=3 thread=thread 1 process=process 1",
      "k<op<ProfilerStep#3 1 0 7 step=3 stream=GPU 0 stream 7",
      "alone<[unattributed] 1 0 9 stream=GPU 0 stream 7"};
  EXPECT_EQ(samples_of(profile_of(fixtures::finished(builder))), expected);
}

TEST(PprofTest, TakesAnyName) {
  TraceBuilder builder;
  std::int64_t at = 0;
  fixtures::add(builder, {.name = "", .start = at, .duration = 5});
  for (const std::string_view name : fixtures::kHostileNames) {
    fixtures::add(builder, {.name = name, .start = at += 10, .duration = 5});
  }
  const std::vector<std::string> samples = samples_of(profile_of(fixtures::finished(builder)));
  EXPECT_EQ(samples.size(), fixtures::kHostileNames.size() + 1);
  EXPECT_EQ(samples.front(), "[unnamed] 1 5 0 thread=thread 1 process=process 1");
}

TEST(PprofTest, IsCompressedWhateverTheFileIsCalled) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "op", .start = 0, .duration = 5});
  const auto file = fixtures::exported_file(fixtures::finished(builder), ExportFormat::pprof);
  EXPECT_TRUE(file.text.starts_with("\x1f\x8b"));
  EXPECT_EQ(file.report.ranges, 1U);
}

}  // namespace
}  // namespace tbtrace::writers
