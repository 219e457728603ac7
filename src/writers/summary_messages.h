// The events that TensorBoard's plugins read, each as the bytes of one message:
// docs/formats/event_files.md. An SummaryMoment and texts are valid as they come: wall times are
// finite, texts are UTF-8. A ScalarEncoder keeps a message to fill again and belongs to one thread;
// the rest are pure functions.
// Two implementations: with protobuf, and one in which can_write_events() fails and all else gives
// nothing. Who makes a file asks it first.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/summary_writer.h>

#include "writers/histogram_buckets.h"

namespace tbtrace::writers {

/// When and where on the axis of steps.
struct SummaryMoment {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
};

/// A failure if this build has no protobuf.
Status can_write_events();

/// The first event of a file. Without it TensorBoard's Python loader throws values away whose step
/// goes back.
std::string file_version_event(double wall_time);

/// Takes away what stands at `moment.step` and later, if it is not the first of the run.
std::string session_start_event(SummaryMoment moment);

class ScalarEncoder {
 public:
  ScalarEncoder();
  ScalarEncoder(const ScalarEncoder&) = delete;
  ScalarEncoder& operator=(const ScalarEncoder&) = delete;
  ~ScalarEncoder();

  /// Appends a record with the event. Only the first of a tag in a file needs to say what it is.
  void append_record(std::string& records, SummaryMoment moment, std::string_view tag, float value,
                     bool first_of_tag);

 private:
  struct Message;
  std::unique_ptr<Message> message_;
  std::string payload_;
};

std::string text_event(SummaryMoment moment, std::string_view tag, std::string_view markdown);

std::string histogram_event(SummaryMoment moment, std::string_view tag,
                            std::span<const Bucket> buckets);

/// The step of an event with a value whose tag begins so; nothing if these bytes are none.
std::optional<std::int64_t> step_of_event(std::string_view event, std::string_view tag_start);

/// `image` is a PNG file's bytes.
std::string image_event(SummaryMoment moment, std::string_view tag, int width, int height,
                        std::string_view image);

/// `curve` has six rows of the same length, one after the other: true positives, false positives,
/// true negatives, false negatives, precision, recall.
std::string pr_curve_event(SummaryMoment moment, std::string_view tag,
                           std::span<const float> curve);

inline constexpr std::string_view kLayoutTag = "custom_scalars__config__";
std::string layout_event(SummaryMoment moment, const std::vector<CustomCategory>& layout);

/// A run with the first is a session of the dashboard HParams; the second says that it is over.
std::string session_start_info_event(SummaryMoment moment, const SummaryWriter::HParams& hparams);
std::string session_end_info_event(SummaryMoment moment);

}  // namespace tbtrace::writers
