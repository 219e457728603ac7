#include "writers/events/records.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/event_reading.h"
#include "writers/events/png.h"

namespace tbtrace::writers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr SummaryMoment kRecordMoment = {.wall_time = 1.5, .step = 7};

/// The one value of each event, all of them of kRecordMoment.
std::vector<proto::Summary::Value> values(const SummaryRecords& text) {
  std::vector<proto::Summary::Value> values;
  for (const proto::Event& event : fixtures::events_of(text.records())) {
    EXPECT_EQ(event.step(), kRecordMoment.step);
    EXPECT_EQ(event.wall_time(), kRecordMoment.wall_time);
    EXPECT_EQ(event.summary().value_size(), 1);
    values.push_back(event.summary().value(0));
  }
  return values;
}

TEST(SummaryRecords, IsEmptyAtFirst) { EXPECT_THAT(SummaryRecords().records(), IsEmpty()); }

TEST(SummaryRecords, SaysWhatATagIsAtItsFirstScalar) {
  SummaryRecords text;
  text.add_scalar(kRecordMoment, "a", 1);
  text.add_scalar(kRecordMoment, "b", 2);
  text.add_scalar(kRecordMoment, "a", 1.0 / 3);
  const auto found = values(text);
  ASSERT_THAT(found, SizeIs(3));
  EXPECT_EQ(found[0].metadata().plugin_data().plugin_name(), "scalars");
  EXPECT_EQ(found[1].metadata().plugin_data().plugin_name(), "scalars");
  EXPECT_FALSE(found[2].has_metadata());
  EXPECT_EQ(found[2].tag(), "a");
  EXPECT_EQ(found[2].tensor().float_val(0), static_cast<float>(1.0 / 3));
}

TEST(SummaryRecords, HasTextsWhereSummaryWriterHasThem) {
  SummaryRecords text;
  text.add_text(kRecordMoment, "bad \xff", "also \xfe");
  const auto found = values(text);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].tag(), "bad \uFFFD/text_summary");
  EXPECT_EQ(found[0].tensor().string_val(0), "also \uFFFD");
}

TEST(SummaryRecords, CountsValuesBetweenEdges) {
  SummaryRecords text;
  const std::vector<double> some = {0.5, 1.5, 1.7};
  const std::vector<double> edges = {0, 1, 2};
  text.add_histogram(kRecordMoment, "h", some, edges);
  const auto found = values(text);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].metadata().plugin_data().plugin_name(), "histograms");
  EXPECT_EQ(found[0].tensor().tensor_shape().dim(1).size(), 3);
}

TEST(SummaryRecords, TakesPicturesOnly) {
  const std::vector<std::uint8_t> samples(3 * 2 * 5, 9);
  const Result<std::string> png =
      png_file({.width = 5, .height = 2, .channels = 3, .samples = samples});
  ASSERT_TRUE(png.ok()) << png.status().message();
  SummaryRecords text;
  text.add_image(kRecordMoment, "none", "no picture");
  text.add_image(kRecordMoment, "one", *png);
  const auto found = values(text);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0].tensor().string_val(), ElementsAre("5", "2", *png));
}

TEST(SummaryRecords, BeginsAndEndsASession) {
  SummaryRecords text;
  text.add_hparams(kRecordMoment, {{"rank", 3}});
  const auto found = values(text);
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].tag(), "_hparams_/session_start_info");
  EXPECT_EQ(found[1].tag(), "_hparams_/session_end_info");
}

}  // namespace
}  // namespace tbtrace::writers
