#include "chrome/rows/row_document.h"

namespace tbtrace::chrome {
namespace {

constexpr std::string_view kRowEnd = ",\n";

}  // namespace

Status RowDocument::begin() {
  std::string text;
  write_start(text);
  return sink_.write(text);
}

/// The comma after the last row is written only before the next row, if there is one.
Status RowDocument::add(std::string_view rows, std::size_t first_range, std::size_t ranges,
                        const Changes& changes) {
  const bool are_too_many = trace_has_rows_ && first_range + ranges > trace_.events().size();
  if (first_range != ranges_ || are_too_many) return readers::changed_while_read();
  ranges_ += ranges;
  count(changes);
  if (rows.empty()) return {};
  if (has_rows_) {
    if (Status written = sink_.write(kRowEnd); !written.ok()) return written;
  }
  has_rows_ = true;
  return sink_.write(rows.substr(0, rows.size() - kRowEnd.size()));
}

Status RowDocument::end() {
  if (trace_has_rows_ && ranges_ != trace_.events().size()) return readers::changed_while_read();
  std::string text(has_rows_ ? kRowEnd : std::string_view());
  write_end(text);
  return sink_.write(text);
}

void RowDocument::count(const Changes& changes) {
  for (const auto& [id, count] : changes) changes_[id] += count;
}

void RowBlock::begin(EventId first_range) {
  first_range_ = index(first_range);
  ranges_ = 0;
  text_.clear();
  changes_.clear();
}

bool RowBlock::take_ranges(const Trace& trace, std::size_t ranges) {
  take_ranges(ranges);
  return first_range_ + ranges_ <= trace.events().size();
}

Status RowBlock::finish() { return document_.add(text_, first_range_, ranges_, changes_); }

}  // namespace tbtrace::chrome
