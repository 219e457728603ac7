// Collects the records of an event file in memory, for a finished trace whose events are all known
// at once. A SummaryRecords owns its records. One thread at a time. Tags and texts may be any
// bytes; bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <tbtrace/summary_writer.h>

#include "writers/events/messages.h"

namespace tbtrace::writers {

class SummaryRecords {
 public:
  void add_scalar(SummaryMoment moment, std::string_view tag, double value);
  /// Markdown, under `<tag>/text_summary` as in SummaryWriter.
  void add_text(SummaryMoment moment, std::string_view tag, std::string_view markdown);
  /// Counts values between ascending edges.
  void add_histogram(SummaryMoment moment, std::string_view tag, std::span<const double> values,
                     std::span<const double> edges);
  /// A PNG file's bytes; other bytes are left out.
  void add_image(SummaryMoment moment, std::string_view tag, std::string_view png);
  void add_layout(SummaryMoment moment, const std::vector<CustomCategory>& layout);
  void add_hparams(SummaryMoment moment, const SummaryWriter::HParams& hparams);

  const std::string& records() const { return records_; }

 private:
  void add(std::string_view event);

  std::string records_;
  ScalarEncoder scalars_;
  std::unordered_set<std::string> tags_;  // of scalars
};

}  // namespace tbtrace::writers
