// messages.h without protobuf: no event file is created, so none of these texts is ever
// written.
#include "writers/events/messages.h"

namespace tbtrace::writers {

Status can_write_events() {
  return {
      StatusCode::invalid_argument,
      "this build cannot write TensorBoard's event files: it was built without protobuf; install "
      "libprotobuf-dev and protobuf-compiler, and build tbtrace again"};
}

struct ScalarEncoder::Message {};

ScalarEncoder::ScalarEncoder() = default;
ScalarEncoder::~ScalarEncoder() = default;

void ScalarEncoder::append_record(std::string& /*records*/, SummaryMoment /*moment*/,
                                  std::string_view /*tag*/, float /*value*/,
                                  bool /*first_of_tag*/) {}

std::string file_version_event(double /*wall_time*/) { return {}; }
std::string session_start_event(SummaryMoment /*moment*/) { return {}; }
std::string text_event(SummaryMoment /*moment*/, std::string_view /*tag*/,
                       std::string_view /*markdown*/) {
  return {};
}
std::string histogram_event(SummaryMoment /*moment*/, std::string_view /*tag*/,
                            std::span<const Bucket> /*buckets*/) {
  return {};
}
std::optional<std::int64_t> step_of_event(std::string_view /*event*/,
                                          std::string_view /*tag_start*/) {
  return std::nullopt;
}
std::string image_event(SummaryMoment /*moment*/, std::string_view /*tag*/, int /*width*/,
                        int /*height*/, std::string_view /*image*/) {
  return {};
}
std::string pr_curve_event(SummaryMoment /*moment*/, std::string_view /*tag*/,
                           std::span<const float> /*curve*/) {
  return {};
}
std::string layout_event(SummaryMoment /*moment*/, const std::vector<CustomCategory>& /*layout*/) {
  return {};
}
std::string session_start_info_event(SummaryMoment /*moment*/,
                                     const SummaryWriter::HParams& /*hparams*/) {
  return {};
}
std::string session_end_info_event(SummaryMoment /*moment*/) { return {}; }

}  // namespace tbtrace::writers
