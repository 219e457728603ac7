#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/slice.h>

#include "fixtures/chrome_text.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

// What is chosen, tests/cli/slice_test.py holds against a search of all rows.
class SliceTest : public testing::Test {
 protected:
  SliceTest() {
    fixtures::ChromeText text;
    for (int step = 1; step <= 3; ++step) {
      const std::string name = "ProfilerStep#" + std::to_string(step);
      text.events.push_back(fixtures::op("aten::mm", std::to_string(step * 100), "30"));
      text.events.push_back(fixtures::op(name, std::to_string(step * 100), step == 2 ? "90" : "50")
                                .with("cat", "\"user_annotation\""));
    }
    fixtures::write_whole_file(input, text.text());
  }

  const fixtures::ScratchFolder folder;
  const std::string input = folder.path("trace.json");
  const std::string output = folder.path("part.json");
};

TEST_F(SliceTest, SaysWhatItWrote) {
  const Result<SliceReport> report = slice_trace(input, output, {.part = SliceSlowestStep()});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(report->steps, ElementsAre(2));
  EXPECT_EQ(report->events, 2U);
  EXPECT_EQ(report->left_out, 4U);
  EXPECT_EQ(report->cut, 0U);
  ASSERT_TRUE(report->time);
  EXPECT_EQ(report->time->start_ns, 100'000);
  EXPECT_EQ(report->time->end_ns, 190'000);
  EXPECT_THAT(fixtures::read_whole_file(output),
              HasSubstr("\"tbtrace_slice\": {\"version\": 1, \"source\": \"trace.json\""));
}

TEST_F(SliceTest, KindsHaveNames) {
  EXPECT_EQ(slice_kind_name(SliceKind::operators), "operators");
  EXPECT_EQ(slice_kind_name(SliceKind::other), "other");
}

TEST_F(SliceTest, OfATimeKeepsWhatIsOpenThenButSteps) {
  const Result<SliceReport> report =
      slice_trace(input, output, {.part = SliceTime{120'000, 210'000}});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->events, 2U);
  EXPECT_EQ(report->cut, 2U);
  EXPECT_THAT(report->steps, testing::IsEmpty());
}

TEST_F(SliceTest, AsksOnceForEachName) {
  std::vector<std::string> asked;
  SliceOptions options = {.most_bytes = 1200, .name_pattern = "mm"};
  options.accepts_name = [&](std::string_view name) {
    asked.emplace_back(name);
    return name == "aten::mm";
  };
  const Result<SliceReport> report = slice_trace(input, output, options);
  ASSERT_FALSE(report.ok());  // what every part has takes more
  EXPECT_THAT(asked, UnorderedElementsAre("aten::mm", "ProfilerStep#1", "ProfilerStep#2",
                                          "ProfilerStep#3"));
}

TEST_F(SliceTest, TheWindowAloneIsNotAPart) {
  fixtures::ChromeText text;
  text.events.push_back(fixtures::op("aten::mm", "100", "30"));
  text.events.push_back(fixtures::op("PyTorch Profiler (0)", "90", "90").with("cat", "\"Trace\""));
  text.events.push_back(fixtures::op("Record Window End", "190", "0").with("ph", "\"i\""));
  text.events.push_back(
      fixtures::op("queue", "120", "0").with("ph", "\"C\"").with("args", "{\"length\": 3}"));
  fixtures::write_whole_file(input, text.text());
  SliceOptions of_names;
  of_names.accepts_name = [](std::string_view) { return false; };
  for (const SliceOptions& options : {of_names, SliceOptions{.threads = {"no thread"}}}) {
    const Result<SliceReport> report = slice_trace(input, output, options);
    EXPECT_EQ(report.status().code(), StatusCode::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(output));
  }
  EXPECT_TRUE(slice_trace(input, output, {.part = SliceTime{10'000, 20'000}}).ok());
}

TEST_F(SliceTest, CanBeCancelled) {
  const Result<SliceReport> report = slice_trace(
      input, output, {.part = SliceSlowestStep(), .on_progress = [](auto, auto) { return false; }});
  EXPECT_EQ(report.status().code(), StatusCode::cancelled);
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(SliceTest, AFullDiskIsAFailure) {
  const Result<SliceReport> report =
      slice_trace(input, "/dev/full", {.part = SliceSlowestStep(), .overwrite = true});
  EXPECT_EQ(report.status().code(), StatusCode::unwritable_output);
}

}  // namespace
}  // namespace tbtrace
