#include "writers/memory/timeline_formats.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/drained.h"
#include "fixtures/scratch_folder.h"
#include "fixtures/whole_file.h"
#include "io/source.h"

namespace tbtrace::writers {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using enum MemoryAction;
using enum MemoryCategory;

const MemoryTimeline kTimeline = {
    {-1, preexisting, 100, parameter},
    {1'790'000'000'000'001'500, create, 10, input},
    {1'790'000'000'000'001'700, create, 7, unknown},
    {1'790'000'000'000'004'000, increment_version, -10, input},
    {1'790'000'000'000'004'000, increment_version, 10, gradient},
    {1'790'000'000'000'005'000, destroy, -10, gradient},
};

std::string unzipped(const std::string& path) {
  const std::string bytes = fixtures::read_whole_file(path);
  EXPECT_EQ(bytes.substr(0, 2), "\x1f\x8b");
  auto source = io::decompressed(io::memory_source(bytes));
  return source.ok() ? fixtures::drain(**source).text : source.status().message();
}

TEST(MemoryTimeline, RawIsAListOfRows) {
  EXPECT_EQ(memory_timeline_raw_json(kTimeline),
            "[[-1, 1, 100, 0], [1790000000000001500, 2, 10, 2], [1790000000000001700, 2, 7, 7], "
            "[1790000000000004000, 3, -10, 2], [1790000000000004000, 3, 10, 5], "
            "[1790000000000005000, 4, -10, 5]]");
  EXPECT_EQ(memory_timeline_raw_json({}), "[]");
}

TEST(MemoryTimeline, SizesChangeWithEachMicrosecond) {
  EXPECT_EQ(memory_timeline_json(kTimeline),
            "[[1790000000000001, 1790000000000001, 1790000000000004, 1790000000000005], "
            "[[0, 100, 0, 0, 0, 0, 0, 0, 0], [0, 100, 0, 10, 0, 0, 0, 0, 7], "
            "[0, 100, 0, 0, 0, 0, 10, 0, 7], [0, 100, 0, 0, 0, 0, 0, 0, 7]]]");
  EXPECT_EQ(memory_timeline_json({}), "[[], []]");
}

TEST(MemoryTimeline, MicrosecondsAreThoseOfPythonsDivision) {
  // A double of this size has quarters, so the last eighth comes to the next number.
  const auto time = [](std::int64_t ns) {
    return memory_sizes({{1'790'000'000'000'000'000 + ns, create, 1, input}}).times_us.at(0) -
           1'790'000'000'000'000;
  };
  EXPECT_EQ(time(0), 0);
  EXPECT_EQ(time(874), 0);
  EXPECT_EQ(time(875), 1);
  EXPECT_EQ(time(1999), 2);
}

TEST(MemoryTimeline, OnlyOfBeforeHasNoTime) {
  EXPECT_EQ(memory_timeline_json({{-1, preexisting, 5, input}}),
            "[[-1], [[0, 0, 0, 5, 0, 0, 0, 0, 0]]]");
}

TEST(MemoryTimeline, PageHasAnAreaACategoryAndNothingFromElsewhere) {
  const std::string page = memory_timeline_html(kTimeline, "cpu");
  for (std::size_t category = 0; category < kMemoryCategories; ++category) {
    const std::string name(memory_category_name(static_cast<MemoryCategory>(category)));
    EXPECT_THAT(page, HasSubstr("<title>" + name + "</title>"));
  }
  EXPECT_THAT(page, HasSubstr("At most 117 B at a time"));
  EXPECT_THAT(page, HasSubstr("</html>"));
  for (const char* const foreign : {"<script", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(foreign)));
  }
}

TEST(MemoryTimeline, PageEscapesTheDevice) {
  const std::string page = memory_timeline_html(kTimeline, "<script>alert(\"&\")</script>\x01");
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert("));
  EXPECT_THAT(page, Not(HasSubstr("\x01")));
}

TEST(MemoryTimeline, PageOfNothingSaysSo) {
  EXPECT_THAT(memory_timeline_html({}, "cuda:0"), HasSubstr("Nothing was recorded"));
}

TEST(MemoryTimeline, APageOfOneMomentHasNoInfiniteNumbers) {
  const std::string page = memory_timeline_html({{5000, create, 0, input}}, "cpu");
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("inf")));
}

// The chart is 1000 pixels wide and 480 high, from (90, 20).
TEST(MemoryTimeline, APageOfAMillionTimesIsSmallAndHasEveryPeak) {
  MemoryTimeline timeline;
  for (std::int64_t row = 0; row < 1'000'000; ++row) {
    const std::int64_t time = 1'790'000'000'000'000'000 + 1000 * row;
    const bool is_peak = row == 777'778;  // one microsecond long, inside a column of pixels
    if (is_peak) timeline.push_back({time, create, 1 << 20, input});
    if (is_peak) timeline.push_back({time + 1000, destroy, -(1 << 20), input});
    if (row % 2 == 0) timeline.push_back({time, create, 512, input});
    if (row % 2 == 1) timeline.push_back({time, destroy, -512, input});
  }
  const std::string page = memory_timeline_html(timeline, "cpu");
  EXPECT_LT(page.size(), std::size_t{2} << 20);
  EXPECT_THAT(page, HasSubstr("At most 1.00 MiB at a time"));
  EXPECT_THAT(page, HasSubstr("L867.78 20.00")) << "the top of the peak, in its column";
  EXPECT_THAT(page, HasSubstr("L1090.00 ")) << "the end";
}

TEST(MemoryTimeline, TheEndOfThePathChoosesTheForm) {
  const fixtures::ScratchFolder folder;
  for (const char* const name : {"a.json", "a.json.gz", "a.raw.json.gz", "a.html"}) {
    fixtures::write_whole_file(folder.path(name), "old");
    ASSERT_TRUE(write_memory_timeline(kTimeline, "cpu", folder.path(name)).ok());
  }
  EXPECT_EQ(fixtures::read_whole_file(folder.path("a.json")), memory_timeline_json(kTimeline));
  EXPECT_EQ(fixtures::read_whole_file(folder.path("a.html")),
            memory_timeline_html(kTimeline, "cpu"));
  EXPECT_EQ(unzipped(folder.path("a.json.gz")), memory_timeline_json(kTimeline));
  EXPECT_EQ(unzipped(folder.path("a.raw.json.gz")), memory_timeline_raw_json(kTimeline));
  EXPECT_EQ(folder.names().size(), 4U);  // and no temporary ones
}

TEST(MemoryTimeline, APlaceThatCannotBeWrittenIsAFailure) {
  const fixtures::ScratchFolder folder;
  const Status status = write_memory_timeline(kTimeline, "cpu", folder.path("no/such.json"));
  EXPECT_EQ(status.code(), StatusCode::unwritable_output);
}

}  // namespace
}  // namespace tbtrace::writers
