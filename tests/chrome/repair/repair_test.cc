#include <cstddef>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/repair.h>

#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "wire/json_strict.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// What is kept of damaged files, tests/reference/damaged_traces.py holds against what was in them.
class RepairTest : public testing::Test {
 protected:
  Result<RepairReport> repaired(const std::string& text, const RepairOptions& options = {}) {
    fixtures::write_whole_file(input, text);
    return repair_trace(input, output, options);
  }

  const fixtures::ScratchFolder folder;
  const std::string input = folder.path("trace.json");
  const std::string output = folder.path("whole.json");
};

constexpr const char* kStart = R"({"traceEvents": [{"ph":"X","name":"a","ts":1,"dur":2})";

TEST_F(RepairTest, SaysWhatIsLostAndWhere) {
  const Result<RepairReport> report = repaired(std::string(kStart) + R"(, {"ph":"X","na)");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->was_whole);
  EXPECT_EQ(report->read_events, 1U);
  EXPECT_EQ(report->lost_bytes, 13U);
  ASSERT_THAT(report->losses, SizeIs(1));
  EXPECT_EQ(report->losses[0].kind, "input_truncated");
  EXPECT_EQ(report->losses[0].at_byte, std::string(kStart).size() + 2);
  EXPECT_EQ(report->losses[0].bytes, 13U);
  EXPECT_EQ(report->losses_left_out, 0U);
  EXPECT_THAT(report->issues, SizeIs(1));
  EXPECT_THAT(report->changes, IsEmpty());
  EXPECT_THAT(report->receipt, HasSubstr(R"("read_events": 1, "lost_bytes": 13)"));
  EXPECT_THAT(fixtures::read_whole_file(output), HasSubstr(report->receipt));
}

TEST_F(RepairTest, CopiesWhatIsWhole) {
  const std::string text = std::string(kStart) + "] }\n";
  const Result<RepairReport> report = repaired(text);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->was_whole);
  EXPECT_EQ(report->read_events, 1U);
  EXPECT_THAT(report->losses, IsEmpty());
  EXPECT_EQ(fixtures::read_whole_file(output), text);
}

TEST_F(RepairTest, LeavesRowsAsTheyAre) {
  const Result<RepairReport> report = repaired(
      R"({"a": NaN, "traceEvents": [{"ph":"E","ts":"1","x":{"y":[]}},{"ph":"B","name":"b",)"
      R"("ts":1.50},{"ph":"Q","args":7},{"ph":"M","name":"m"}]})");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->read_events, 4U);
  EXPECT_THAT(fixtures::read_whole_file(output),
              HasSubstr("[\n{\"ph\":\"E\",\"ts\":\"1\",\"x\":{\"y\":[]}},\n"
                        "{\"ph\":\"B\",\"name\":\"b\",\"ts\":1.50},\n"
                        "{\"ph\":\"Q\",\"args\":7},\n{\"ph\":\"M\",\"name\":\"m\"}\n],\n"));
}

TEST_F(RepairTest, EndsIfTheCallerSaysSoOrIfItMayNot) {
  EXPECT_EQ(repaired(kStart, {.on_progress = [](auto, auto) { return false; }}).status().code(),
            StatusCode::cancelled);
  EXPECT_EQ(repaired(kStart, {.strict = true}).status().code(), StatusCode::check_failed);
  EXPECT_EQ(repaired("{}").status().code(), StatusCode::unreadable_input);
  fixtures::write_whole_file(output, "mine");
  EXPECT_EQ(repaired(kStart).status().code(), StatusCode::output_exists);
  EXPECT_TRUE(repaired(kStart, {.overwrite = true}).ok());
}

// Control characters that are not blanks, in place of each byte and before each.
TEST_F(RepairTest, WritesJsonWhereverAControlCharacterStands) {
  const std::string text =
      R"({"a": 1, "traceEvents": [{"ph":"X","name":"a","pid":7,"tid":true,"ts":1.5 ,"dur":2,"x":null,)"
      R"("args":{"y":-3e1,"z":[1,"b"],"w":{} }}, {"ph":"M","k":false}], "b": {"c": 4} })";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    for (const char control : {'\0', '\f', '\x1a', '\x1f'}) {
      for (const std::size_t replaced : {0U, 1U}) {
        if (at + replaced > text.size()) continue;
        std::string damaged = text;
        damaged.replace(at, replaced, 1, control);
        const Result<RepairReport> report =
            repaired(damaged, {.overwrite = true, .reading_threads = 1});
        if (!report.ok()) {
          ASSERT_EQ(report.status().code(), StatusCode::unreadable_input);
          continue;
        }
        ASSERT_FALSE(report->was_whole) << damaged;
        std::string strict;
        ASSERT_TRUE(wire::append_strict_json(strict, fixtures::read_whole_file(output), false))
            << damaged;
      }
    }
  }
}

}  // namespace
}  // namespace tbtrace
