#include "writers/events/records.h"

#include <optional>

#include "base/utf8.h"
#include "wire/tfrecord.h"
#include "writers/events/histogram_buckets.h"
#include "writers/events/png.h"

namespace tbtrace::writers {

void SummaryRecords::add(std::string_view event) { wire::append_record(records_, event); }

void SummaryRecords::add_scalar(SummaryMoment moment, std::string_view tag, double value) {
  const auto [valid, is_first] = tags_.insert(to_utf8(tag));
  scalars_.append_record(records_, moment, *valid, static_cast<float>(value), is_first);
}

void SummaryRecords::add_text(SummaryMoment moment, std::string_view tag,
                              std::string_view markdown) {
  add(text_event(moment, to_utf8(tag) + "/text_summary", to_utf8(markdown)));
}

void SummaryRecords::add_histogram(SummaryMoment moment, std::string_view tag,
                                   std::span<const double> values, std::span<const double> edges) {
  add(histogram_event(moment, to_utf8(tag), histogram_buckets(values, edges, 0)));
}

void SummaryRecords::add_image(SummaryMoment moment, std::string_view tag, std::string_view png) {
  const std::optional<PngSize> size = png_size(png);
  if (size) add(image_event(moment, to_utf8(tag), size->width, size->height, png));
}

void SummaryRecords::add_layout(SummaryMoment moment, const std::vector<CustomCategory>& layout) {
  add(layout_event(moment, layout));
}

void SummaryRecords::add_hparams(SummaryMoment moment, const SummaryWriter::HParams& hparams) {
  add(session_start_info_event(moment, hparams));
  add(session_end_info_event(moment));
}

}  // namespace tbtrace::writers
