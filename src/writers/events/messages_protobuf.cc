#include <cstddef>
#include <limits>

#include "base/utf8.h"
#include "proto/events.pb.h"
#include "proto/plugins.pb.h"
#include "wire/tfrecord.h"
#include "writers/events/messages.h"

namespace tbtrace::writers {
namespace {

proto::Event event_at(SummaryMoment moment) {
  proto::Event event;
  event.set_wall_time(moment.wall_time);
  event.set_step(moment.step);
  return event;
}

/// Adds the only value of an event, for a plugin.
proto::Summary::Value& add_value(proto::Event& event, std::string_view tag, const char* plugin,
                                 proto::DataClass data_class, std::string content = {}) {
  proto::Summary::Value& value = *event.mutable_summary()->add_value();
  value.set_tag(tag.data(), tag.size());
  proto::SummaryMetadata& metadata = *value.mutable_metadata();
  metadata.mutable_plugin_data()->set_plugin_name(plugin);
  metadata.mutable_plugin_data()->set_content(std::move(content));
  metadata.set_data_class(data_class);
  return value;
}

void add_dim(proto::TensorProto& tensor, std::int64_t size) {
  tensor.mutable_tensor_shape()->add_dim()->set_size(size);
}

proto::Value hparam_value(const HParam& hparam) {
  proto::Value value;
  if (const auto* number = std::get_if<double>(&hparam.value())) {
    value.set_number_value(*number);
  } else if (const auto* text = std::get_if<std::string>(&hparam.value())) {
    value.set_string_value(to_utf8(*text));
  } else {
    value.set_bool_value(std::get<bool>(hparam.value()));
  }
  return value;
}

void add_chart(proto::Category& category, const CustomChart& chart) {
  proto::Chart& message = *category.add_chart();
  message.set_title(to_utf8(chart.title));
  if (chart.kind == CustomChart::Kind::multiline) {
    for (const std::string& tag : chart.tags) message.mutable_multiline()->add_tag(to_utf8(tag));
    return;
  }
  proto::MarginChartContent::Series& series = *message.mutable_margin()->add_series();
  series.set_value(to_utf8(chart.tags.at(0)));
  series.set_lower(to_utf8(chart.tags.at(1)));
  series.set_upper(to_utf8(chart.tags.at(2)));
}

/// All data is in the metadata, but TensorBoard's Python loader needs a tensor, too: an empty one.
std::string hparams_event(SummaryMoment moment, std::string_view tag,
                          const proto::HParamsPluginData& data) {
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, tag, "hparams", proto::DATA_CLASS_TENSOR, data.SerializeAsString())
           .mutable_tensor();
  tensor.set_dtype(proto::DT_FLOAT);
  add_dim(tensor, 0);
  return event.SerializeAsString();
}

}  // namespace

Status can_write_events() { return {}; }

std::string file_version_event(double wall_time) {
  proto::Event event;
  event.set_wall_time(wall_time);
  event.set_file_version("brain.Event:2");
  event.mutable_source_metadata()->set_writer("tbtrace");
  return event.SerializeAsString();
}

std::string session_start_event(SummaryMoment moment) {
  proto::Event event = event_at(moment);
  event.mutable_session_log()->set_status(proto::SessionLog::START);
  return event.SerializeAsString();
}

struct ScalarEncoder::Message {
  proto::Event event;
};

ScalarEncoder::ScalarEncoder() : message_(std::make_unique<Message>()) {
  proto::TensorProto& tensor = *message_->event.mutable_summary()->add_value()->mutable_tensor();
  tensor.set_dtype(proto::DT_FLOAT);
  tensor.mutable_tensor_shape();  // sets a shape of rank 0, instead of none
  tensor.add_float_val(0);
}

ScalarEncoder::~ScalarEncoder() = default;

void ScalarEncoder::append_record(std::string& records, SummaryMoment moment, std::string_view tag,
                                  float value, bool first_of_tag) {
  proto::Event& event = message_->event;
  event.set_wall_time(moment.wall_time);
  event.set_step(moment.step);
  proto::Summary::Value& message = *event.mutable_summary()->mutable_value(0);
  message.set_tag(tag.data(), tag.size());
  message.mutable_tensor()->set_float_val(0, value);
  if (first_of_tag) {
    message.mutable_metadata()->mutable_plugin_data()->set_plugin_name("scalars");
    message.mutable_metadata()->set_data_class(proto::DATA_CLASS_SCALAR);
  } else {
    message.clear_metadata();
  }
  event.SerializeToString(&payload_);
  wire::append_record(records, payload_);
}

std::optional<std::int64_t> step_of_event(std::string_view event, std::string_view tag_start) {
  proto::Event message;
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (event.size() > kMost ||
      !message.ParseFromArray(event.data(), static_cast<int>(event.size()))) {
    return std::nullopt;
  }
  for (const proto::Summary::Value& value : message.summary().value()) {
    if (value.tag().starts_with(tag_start)) return message.step();
  }
  return std::nullopt;
}

std::string text_event(SummaryMoment moment, std::string_view tag, std::string_view markdown) {
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, tag, "text", proto::DATA_CLASS_TENSOR).mutable_tensor();
  tensor.set_dtype(proto::DT_STRING);
  tensor.mutable_tensor_shape();
  tensor.add_string_val(markdown.data(), markdown.size());
  return event.SerializeAsString();
}

std::string histogram_event(SummaryMoment moment, std::string_view tag,
                            std::span<const Bucket> buckets) {
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, tag, "histograms", proto::DATA_CLASS_TENSOR).mutable_tensor();
  tensor.set_dtype(proto::DT_DOUBLE);
  add_dim(tensor, static_cast<std::int64_t>(buckets.size()));
  add_dim(tensor, 3);
  for (const Bucket& bucket : buckets) {
    tensor.add_double_val(bucket.left);
    tensor.add_double_val(bucket.right);
    tensor.add_double_val(bucket.count);
  }
  return event.SerializeAsString();
}

std::string image_event(SummaryMoment moment, std::string_view tag, int width, int height,
                        std::string_view image) {
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, tag, "images", proto::DATA_CLASS_BLOB_SEQUENCE).mutable_tensor();
  tensor.set_dtype(proto::DT_STRING);
  add_dim(tensor, 3);
  tensor.add_string_val(std::to_string(width));
  tensor.add_string_val(std::to_string(height));
  tensor.add_string_val(image.data(), image.size());
  return event.SerializeAsString();
}

std::string pr_curve_event(SummaryMoment moment, std::string_view tag,
                           std::span<const float> curve) {
  constexpr std::size_t kRows = 6;
  const std::size_t thresholds = curve.size() / kRows;
  proto::PrCurvePluginData data;
  data.set_num_thresholds(static_cast<std::uint32_t>(thresholds));
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, tag, "pr_curves", proto::DATA_CLASS_TENSOR, data.SerializeAsString())
           .mutable_tensor();
  tensor.set_dtype(proto::DT_FLOAT);
  add_dim(tensor, kRows);
  add_dim(tensor, static_cast<std::int64_t>(thresholds));
  tensor.mutable_float_val()->Add(curve.begin(), curve.end());
  return event.SerializeAsString();
}

std::string layout_event(SummaryMoment moment, const std::vector<CustomCategory>& layout) {
  proto::Layout message;
  for (const CustomCategory& category : layout) {
    proto::Category& part = *message.add_category();
    part.set_title(to_utf8(category.title));
    for (const CustomChart& chart : category.charts) add_chart(part, chart);
  }
  proto::Event event = event_at(moment);
  proto::TensorProto& tensor =
      *add_value(event, kLayoutTag, "custom_scalars", proto::DATA_CLASS_TENSOR).mutable_tensor();
  tensor.set_dtype(proto::DT_STRING);
  tensor.mutable_tensor_shape();
  tensor.add_string_val(message.SerializeAsString());
  return event.SerializeAsString();
}

std::string session_start_info_event(SummaryMoment moment, const SummaryWriter::HParams& hparams) {
  proto::HParamsPluginData data;
  proto::SessionStartInfo& info = *data.mutable_session_start_info();
  info.set_start_time_secs(moment.wall_time);
  for (const auto& [name, value] : hparams) {
    (*info.mutable_hparams())[to_utf8(name)] = hparam_value(value);
  }
  return hparams_event(moment, "_hparams_/session_start_info", data);
}

std::string session_end_info_event(SummaryMoment moment) {
  proto::HParamsPluginData data;
  proto::SessionEndInfo& info = *data.mutable_session_end_info();
  info.set_status(proto::SessionEndInfo::STATUS_SUCCESS);
  info.set_end_time_secs(moment.wall_time);
  return hparams_event(moment, "_hparams_/session_end_info", data);
}

}  // namespace tbtrace::writers
