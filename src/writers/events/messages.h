// The events that TensorBoard's plugins read, each as the bytes of one message:
// docs/formats/event_files.md. A SummaryMoment and texts must be valid: wall times finite, texts
// UTF-8. A ScalarEncoder reuses its message and belongs to one thread; the rest are pure functions.
// Two implementations: with protobuf, and one in which can_write_events() fails and everything else
// returns nothing. Call can_write_events() before creating a file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/summary_writer.h>

#include "writers/events/histogram_buckets.h"

namespace tbtrace::writers {

/// Wall time and step of an event.
struct SummaryMoment {
  double wall_time = 0;  // seconds since 1970
  std::int64_t step = 0;
};

/// Fails if this build has no protobuf.
Status can_write_events();

/// The first event of a file. Without it TensorBoard's Python loader drops values when steps go
/// back.
std::string file_version_event(double wall_time);

/// Hides values at `moment.step` and later, unless it is the first such event of the run.
std::string session_start_event(SummaryMoment moment);

class ScalarEncoder {
 public:
  ScalarEncoder();
  ScalarEncoder(const ScalarEncoder&) = delete;
  ScalarEncoder& operator=(const ScalarEncoder&) = delete;
  ~ScalarEncoder();

  /// Appends a record with the event. Only a tag's first event in a file needs its metadata.
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

/// The step of an event with a value whose tag begins with `tag_start`; nullopt for other bytes.
std::optional<std::int64_t> step_of_event(std::string_view event, std::string_view tag_start);

/// `image` is a PNG file's bytes.
std::string image_event(SummaryMoment moment, std::string_view tag, int width, int height,
                        std::string_view image);

/// `curve` has six rows of equal length, one after the other: true positives, false positives, true
/// negatives, false negatives, precision, recall.
std::string pr_curve_event(SummaryMoment moment, std::string_view tag,
                           std::span<const float> curve);

inline constexpr std::string_view kLayoutTag = "custom_scalars__config__";
std::string layout_event(SummaryMoment moment, const std::vector<CustomCategory>& layout);

/// A run with the first event is a session in the HParams dashboard; the second event ends it.
std::string session_start_info_event(SummaryMoment moment, const SummaryWriter::HParams& hparams);
std::string session_end_info_event(SummaryMoment moment);

}  // namespace tbtrace::writers
