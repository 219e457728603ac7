#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <tbtrace/trace_export.h>

#include "fixtures/exported_file.h"
#include "fixtures/hostile_names.h"
#include "fixtures/trace_rows.h"
#include "io/text_sink.h"
#include "trace/trace_builder.h"
#include "wire/json_tree.h"
#include "writers/exports/exporter.h"

namespace tbtrace::writers {
namespace {

Trace small_trace(std::string_view name) {
  TraceBuilder builder;
  fixtures::add(builder,
                {.name = "outer", .start = 1'000'000, .duration = 20'000, .external_id = 5});
  fixtures::add(builder, {.name = name, .start = 1'001'500, .duration = 2'000});
  return fixtures::finished(builder);
}

TEST(FirefoxTest, HasRangesAsMarkersAndStacksInSteps) {
  const std::string text =
      fixtures::exported_file(small_trace("inner"), ExportFormat::firefox).text;
  EXPECT_NE(text.find("\"version\":31,\"startTime\":1.000000,\"interval\":0.001000,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n[0,0.000000,0.020000,1,1,{\"type\":\"range\",\"kind\":\"cpu_op\","
                      "\"External id\":5}],\n[1,0.001500,0.003500,1,1,"),
            std::string::npos)
      << text;
  // Every us, of 20: two in the inner range.
  EXPECT_NE(text.find("\"data\":[[0,0.000000,0],[0,0.001000,0],[1,0.002000,0],[1,0.003000,0],[0,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\"data\":[[null,0],[0,1]]}"), std::string::npos) << text;
}

TEST(FirefoxTest, IsJsonWhateverNamesAre) {
  for (const std::string_view name : fixtures::kHostileNames) {
    const std::string text = fixtures::exported_file(small_trace(name), ExportFormat::firefox).text;
    EXPECT_TRUE(wire::parse_json_tree(text).has_value()) << text;
  }
}

TEST(FirefoxTest, HasAProcessForEachTrace) {
  for (const int traces : {1, 2, 3}) {
    const std::string text = io::text_of([&](io::TextSink& out) {
      const std::unique_ptr<Exporter> exporter = firefox_exporter();
      ExportReport report;
      for (int rank = 0; rank < traces; ++rank) {
        const Trace trace = small_trace("op");
        EXPECT_TRUE(exporter->add(ExportedTrace(trace, "rank"), out, report).ok());
      }
      EXPECT_TRUE(exporter->finish(out, report).ok());
    });
    const auto tree = wire::parse_json_tree(text);
    ASSERT_TRUE(tree.has_value()) << text;
    const wire::JsonTree* const others = tree->find("processes", wire::JsonTree::Kind::list);
    ASSERT_NE(others, nullptr);
    EXPECT_EQ(others->items.size(), static_cast<std::size_t>(traces - 1));
  }
}

}  // namespace
}  // namespace tbtrace::writers
