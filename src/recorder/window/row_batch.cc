#include "recorder/window/row_batch.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"

namespace tbtrace::recorder {

namespace {

constexpr std::size_t kRowsAtOnce = 4096;

}  // namespace

StringId RowBatch::text(std::string_view bytes) {
  return static_cast<StringId>(is_utf8(bytes) ? rows_.texts.intern(bytes)
                                              : rows_.texts.intern(to_utf8(bytes)));
}

TrackId RowBatch::track(const EventBatch::Track& track) {
  const auto [found, is_new] =
      tracks_.try_emplace(track, static_cast<TrackId>(rows_.tracks.size()));
  if (is_new) rows_.tracks.push_back(track);
  return found->second;
}

CategoryId RowBatch::category(std::string_view name) {
  const StringId wanted = text(name);
  const auto found = std::find(rows_.categories.begin(), rows_.categories.end(), wanted);
  const auto id = static_cast<CategoryId>(found - rows_.categories.begin());
  if (found == rows_.categories.end()) rows_.categories.push_back(wanted);
  return id;
}

void RowBatch::add_range(EventRow row, std::int64_t unix_start_ns, std::int64_t unix_end_ns) {
  row.start_ns = time(unix_start_ns);
  row.duration_ns = std::max<std::int64_t>(unix_end_ns - unix_start_ns, 0);
  rows_.first_ns = std::min(rows_.first_ns, row.start_ns);
  rows_.last_ns = std::max(rows_.last_ns, row.start_ns + row.duration_ns);
  rows_.ranges.push_back(row);
  const std::size_t rows = rows_.ranges.size() + rows_.memory.size() + rows_.flows.size();
  if (rows >= kRowsAtOnce) pass_on();
}

EventBatch::Value& RowBatch::next_value(Argument argument) {
  EventBatch::Value& value = rows_.range_values.emplace_back();
  value.row = static_cast<std::uint32_t>(rows_.ranges.size());
  value.argument = argument;
  return value;
}

void RowBatch::add_argument(Argument argument, std::int64_t integer) {
  next_value(argument).integer = integer;
}

void RowBatch::add_argument(Argument argument, StringId text) {
  if (text != StringId::empty) next_value(argument).text = text;
}

void RowBatch::name_process(std::int64_t process, std::string_view name) {
  rows_.labels.push_back(
      {.process = {process, StringId::empty}, .name = text(name), .is_process = true});
}

void RowBatch::name_thread(std::int64_t process, std::int64_t thread, std::string_view name) {
  rows_.labels.push_back({.process = {}, .track = track(process, thread), .name = text(name)});
}

void RowBatch::note_time(std::int64_t unix_ns) {
  const std::int64_t at = time(unix_ns);
  rows_.first_other_time_ns = std::min(rows_.first_other_time_ns.value_or(at), at);
}

void RowBatch::pass_on() {
  sink_.add(rows_);
  rows_.clear();
}

}  // namespace tbtrace::recorder
