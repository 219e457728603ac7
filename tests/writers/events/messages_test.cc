#include "writers/events/messages.h"

#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/summary_writer.h>

#include "fixtures/event_reading.h"
#include "proto/plugins.pb.h"

namespace tbtrace::writers {
namespace {

using testing::ElementsAre;

constexpr SummaryMoment kMoment = {1234.5, 7};

/// The only value of an event at kMoment.
proto::Summary::Value value_of(const std::string& payload) {
  proto::Event event;
  EXPECT_TRUE(event.ParseFromString(payload));
  EXPECT_EQ(event.wall_time(), 1234.5);
  EXPECT_EQ(event.step(), 7);
  EXPECT_EQ(event.summary().value_size(), 1);
  return event.summary().value(0);
}

std::vector<std::int64_t> shape(const proto::TensorProto& tensor) {
  EXPECT_TRUE(tensor.has_tensor_shape());
  std::vector<std::int64_t> sizes;
  for (const auto& dim : tensor.tensor_shape().dim()) sizes.push_back(dim.size());
  return sizes;
}

// The bytes on the wire, from the numbers of TensorBoard's schema: what protoc made of ours must
// not be checked with itself alone.
TEST(FileVersionEvent, IsThisOnTheWire) {
  EXPECT_EQ(file_version_event(2),
            std::string("\x09\0\0\0\0\0\0\0\x40", 9) +  // 1: wall_time, a double
                "\x1a\x0d"
                "brain.Event:2" +  // 3: file_version
                "\x52\x09\x0a\x07"
                "tbtrace");  // 10: source_metadata, 1: writer
}

TEST(ScalarEncoder, WritesThisOnTheWire) {
  ScalarEncoder encoder;
  std::string records;
  encoder.append_record(records, {2, 300}, "t", 1.5F, true);
  const auto payloads = fixtures::payloads(records);
  ASSERT_EQ(payloads.size(), 1);
  const std::string tensor = std::string("\x08\x01", 2) +             // 1: dtype, DT_FLOAT
                             std::string("\x12\0", 2) +               // 2: tensor_shape, rank 0
                             std::string("\x2a\x04\0\0\xc0\x3f", 6);  // 5: float_val, packed
  const std::string metadata =
      "\x0a\x09\x0a\x07"
      "scalars"
      "\x20\x01";  // 1: plugin_data, 4: data_class
  const std::string value = "\x0a\x01t\x42" + std::string(1, static_cast<char>(tensor.size())) +
                            tensor + "\x4a" + std::string(1, static_cast<char>(metadata.size())) +
                            metadata;
  EXPECT_EQ(payloads[0], std::string("\x09\0\0\0\0\0\0\0\x40", 9) + "\x10\xac\x02" + "\x2a" +
                             std::string(1, static_cast<char>(value.size() + 2)) + "\x0a" +
                             std::string(1, static_cast<char>(value.size())) + value);
}

TEST(ScalarEncoder, SaysTheClassOnlyWhenAsked) {
  ScalarEncoder encoder;
  std::string records;
  encoder.append_record(records, kMoment, "a", 1, true);
  encoder.append_record(records, kMoment, "a longer tag", -2, false);
  const auto payloads = fixtures::payloads(records);
  ASSERT_EQ(payloads.size(), 2);
  EXPECT_EQ(value_of(payloads[0]).metadata().data_class(), proto::DATA_CLASS_SCALAR);
  const auto second = value_of(payloads[1]);
  EXPECT_EQ(second.tag(), "a longer tag");
  EXPECT_FALSE(second.has_metadata());
  EXPECT_THAT(second.tensor().float_val(), ElementsAre(-2));
}

TEST(TextEvent, IsAStringOfRankZero) {
  const auto value = value_of(text_event(kMoment, "tag", "**text**"));
  EXPECT_EQ(value.tag(), "tag");
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "text");
  EXPECT_EQ(value.metadata().data_class(), proto::DATA_CLASS_TENSOR);
  EXPECT_EQ(value.tensor().dtype(), proto::DT_STRING);
  EXPECT_THAT(shape(value.tensor()), ElementsAre());
  EXPECT_THAT(value.tensor().string_val(), ElementsAre("**text**"));
}

TEST(HistogramEvent, HasARowForABucket) {
  const Bucket buckets[] = {{1, 2, 3}, {2, 4, 5}};
  const auto value = value_of(histogram_event(kMoment, "tag", buckets));
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "histograms");
  EXPECT_THAT(shape(value.tensor()), ElementsAre(2, 3));
  EXPECT_THAT(value.tensor().double_val(), ElementsAre(1, 2, 3, 2, 4, 5));
  EXPECT_THAT(shape(value_of(histogram_event(kMoment, "tag", {})).tensor()), ElementsAre(0, 3));
}

TEST(ImageEvent, HasSizesAndTheFile) {
  const auto value = value_of(image_event(kMoment, "tag", 30, 20, "a\0b"));
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "images");
  EXPECT_EQ(value.metadata().data_class(), proto::DATA_CLASS_BLOB_SEQUENCE);
  EXPECT_THAT(shape(value.tensor()), ElementsAre(3));
  EXPECT_THAT(value.tensor().string_val(), ElementsAre("30", "20", "a"));
}

TEST(PrCurveEvent, HasSixRows) {
  const std::vector<float> curve = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto value = value_of(pr_curve_event(kMoment, "tag", curve));
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "pr_curves");
  proto::PrCurvePluginData data;
  ASSERT_TRUE(data.ParseFromString(value.metadata().plugin_data().content()));
  EXPECT_EQ(data.num_thresholds(), 2);
  EXPECT_THAT(shape(value.tensor()), ElementsAre(6, 2));
  EXPECT_THAT(value.tensor().float_val(), testing::ElementsAreArray(curve));
}

TEST(LayoutEvent, HasChartsOfBothKinds) {
  const auto value = value_of(
      layout_event(kMoment, {{"first", {{"lines", CustomChart::Kind::multiline, {"a.*", "b\xff"}}}},
                             {"second", {{"band", CustomChart::Kind::margin, {"v", "l", "u"}}}}}));
  EXPECT_EQ(value.tag(), "custom_scalars__config__");
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "custom_scalars");
  proto::Layout layout;
  ASSERT_TRUE(layout.ParseFromString(value.tensor().string_val(0)));
  ASSERT_EQ(layout.category_size(), 2);
  EXPECT_EQ(layout.category(0).title(), "first");
  EXPECT_THAT(layout.category(0).chart(0).multiline().tag(), ElementsAre("a.*", "b\xef\xbf\xbd"));
  const auto& series = layout.category(1).chart(0).margin().series(0);
  EXPECT_EQ(series.value() + series.lower() + series.upper(), "vlu");
}

TEST(SessionInfoEvents, HaveNumbersTextsAndTruthValues) {
  const auto value = value_of(session_start_info_event(
      kMoment, {{"lr", 0.1}, {"n", 64}, {"name", "adam\xff"}, {"amp", true}}));
  EXPECT_EQ(value.tag(), "_hparams_/session_start_info");
  EXPECT_EQ(value.metadata().plugin_data().plugin_name(), "hparams");
  EXPECT_THAT(shape(value.tensor()), ElementsAre(0)) << "TensorBoard's Python loader wants one";
  proto::HParamsPluginData data;
  ASSERT_TRUE(data.ParseFromString(value.metadata().plugin_data().content()));
  const proto::SessionStartInfo& info = data.session_start_info();
  EXPECT_EQ(info.start_time_secs(), 1234.5);
  EXPECT_EQ(info.hparams_size(), 4);
  EXPECT_EQ(info.hparams().at("lr").number_value(), 0.1);
  EXPECT_EQ(info.hparams().at("n").number_value(), 64);
  EXPECT_EQ(info.hparams().at("name").string_value(), "adam\xef\xbf\xbd");
  EXPECT_TRUE(info.hparams().at("amp").bool_value());

  const auto end = value_of(session_end_info_event(kMoment));
  EXPECT_EQ(end.tag(), "_hparams_/session_end_info");
  ASSERT_TRUE(data.ParseFromString(end.metadata().plugin_data().content()));
  EXPECT_EQ(data.session_end_info().status(), proto::SessionEndInfo::STATUS_SUCCESS);
}

TEST(HParam, KeepsNumbersTextsAndFlagsApart) {
  EXPECT_EQ(std::get<double>(HParam(3).value()), 3.0);
  EXPECT_EQ(std::get<double>(HParam(0.5).value()), 0.5);
  EXPECT_EQ(std::get<bool>(HParam(true).value()), true);
  EXPECT_EQ(std::get<std::string>(HParam("adam").value()), "adam");
}

}  // namespace
}  // namespace tbtrace::writers
