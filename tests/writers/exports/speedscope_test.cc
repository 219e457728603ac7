#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/trace_export.h>

#include "fixtures/exported_file.h"
#include "fixtures/trace_rows.h"
#include "trace/trace_builder.h"

namespace tbtrace::writers {
namespace {

fixtures::ExportedFile speedscope_file(const Trace& trace) {
  return fixtures::exported_file(trace, ExportFormat::speedscope);
}

TEST(SpeedscopeTest, HasAProfileForEachThreadAndStream) {
  TraceBuilder builder;
  fixtures::add(builder, {.name = "outer", .start = 1000, .duration = 50});
  fixtures::add(builder, {.name = "\xff\"inner", .start = 1010, .duration = 40});
  fixtures::add(builder, {.category = "cuda_runtime",
                          .name = "launch",
                          .start = 1020,
                          .duration = 2,
                          .correlation = 1});
  fixtures::add(builder, {.category = "kernel",
                          .name = "k",
                          .start = 1030,
                          .duration = 7,
                          .thread = 7,
                          .process = 0,
                          .correlation = 1});
  EXPECT_EQ(speedscope_file(fixtures::finished(builder)).text,
            R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"tbtrace",
"profiles":[
{"type":"evented","name":"thread 1 of process 1","unit":"nanoseconds","startValue":0,"endValue":50,"events":[
{"type":"O","frame":0,"at":0},
{"type":"O","frame":1,"at":10},
{"type":"O","frame":2,"at":20},
{"type":"C","frame":2,"at":22},
{"type":"C","frame":1,"at":50},
{"type":"C","frame":0,"at":50}]},
{"type":"evented","name":"stream 7 of GPU 0","unit":"nanoseconds","startValue":30,"endValue":37,"events":[
{"type":"O","frame":3,"at":30},
{"type":"C","frame":3,"at":37}]},
{"type":"sampled","name":"device time by the stack on the host","unit":"nanoseconds","startValue":0,"endValue":7,"samples":[
[0,1,3]],"weights":[7]}
],
"activeProfileIndex":0,
"shared":{"frames":[
{"name":"outer"},
{"name":"�\"inner"},
{"name":"launch"},
{"name":"k"}
]}}
)");
}

// Its page fails at 300,000 events of one profile.
TEST(SpeedscopeTest, HasOnlySumsOfTracksWithVeryManyRanges) {
  constexpr std::int64_t kRanges = 100'001;
  TraceBuilder builder;
  fixtures::add(builder, {.name = "outer", .start = 0, .duration = 3 * kRanges});
  for (std::int64_t at = 0; at < kRanges; ++at) {
    fixtures::add(builder, {.name = "inner", .start = 3 * at, .duration = 2});
  }
  const fixtures::ExportedFile got = speedscope_file(fixtures::finished(builder));
  EXPECT_NE(got.text.find(R"({"type":"sampled","name":"thread 1 of process 1, sums by stack")"),
            std::string::npos);
  EXPECT_NE(got.text.find("\"samples\":[\n[0],\n[0,1]],\"weights\":[100001,200002]}"),
            std::string::npos);
  EXPECT_EQ(got.report.left_out.size(), 1U);
  EXPECT_EQ(got.report.left_out.begin()->second, 100'002U);
}

TEST(SpeedscopeTest, OfNothingIsAFileWithoutProfiles) {
  TraceBuilder builder;
  const fixtures::ExportedFile got = speedscope_file(fixtures::finished(builder));
  EXPECT_NE(got.text.find("\"profiles\":[\n],\n\"activeProfileIndex\":0"), std::string::npos);
}

}  // namespace
}  // namespace tbtrace::writers
