#include "trace/trace_builder.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/decimal.h"
#include "trace/categories.h"
#include "trace/trace_builder_lookup.h"
#include "trace/trace_data.h"
#include "wire/json_strict.h"
#include "wire/json_values.h"

namespace tbtrace {
namespace {

/// The value of a JSON number, or of a text that is a number.
std::optional<std::int64_t> whole_number(std::string_view json) {
  constexpr std::size_t kReadable = 8;
  std::string text = wire::json_text(json).value_or(std::string(json));
  text.append(kReadable, '\0');
  std::int64_t number;
  const std::string_view digits = std::string_view(text).substr(0, text.size() - kReadable);
  return parse_padded_id(digits, number) ? std::optional(number) : std::nullopt;
}

constexpr std::size_t kMostEvents = std::numeric_limits<std::uint32_t>::max();  // ids below none

}  // namespace

TraceBuilder::TraceBuilder()
    : data_(std::make_unique<TraceData>()), lookup_(std::make_unique<Lookup>()) {}
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;
TraceBuilder::~TraceBuilder() = default;

void TraceBuilder::restart() {
  auto data = std::make_unique<TraceData>();
  data->metadata = std::move(data_->metadata);
  data->base_time_ns = data_->base_time_ns;
  data_ = std::move(data);
  lookup_ = std::make_unique<Lookup>();
  rank_ = {};
  range_ends_.clear();
  first_other_time_ns_.reset();
  has_begun_ranges_ = false;
}

StringId TraceBuilder::intern(std::string_view text) {
  return static_cast<StringId>(data_->strings.intern(text));
}

std::string_view TraceBuilder::string(StringId id) const {
  return data_->strings[static_cast<std::uint32_t>(id)];
}

TrackId TraceBuilder::track(TrackKey process, TrackKey thread) {
  constexpr std::size_t kMost = std::size_t{1} << kTrackBits;
  const auto next = static_cast<TrackId>(data_->tracks.size());
  if (index(next) == kMost && !lookup_->tracks.contains({process, thread})) {
    issues_.add_anywhere(IssueId::too_many_tracks);
    return static_cast<TrackId>(kMost - 1);
  }
  const auto [found, added] = lookup_->tracks.try_emplace({process, thread}, next);
  if (added) data_->tracks.push_back({process, thread, StringId::empty, StringId::empty});
  return found->second;
}

CategoryId TraceBuilder::category(StringId name) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();
  const std::size_t next = data_->categories.size();
  if (next == kMost && !lookup_->categories.contains(name)) {
    issues_.add_anywhere(IssueId::too_many_categories);
    return static_cast<CategoryId>(kMost - 1);
  }
  const auto [found, added] = lookup_->categories.try_emplace(name, static_cast<CategoryId>(next));
  if (added) {
    const CategoryMeaning meaning = meaning_of_category(string(name));
    data_->categories.push_back({name, meaning.kind, meaning.device});
  }
  return found->second;
}

void TraceBuilder::expect(double times) {
  constexpr std::size_t kMostRows = 4'000'000;  // larger columns move cheaply, and guesses may err
  const auto rows = [&](std::size_t size) {
    return std::min(static_cast<std::size_t>(static_cast<double>(size) * times), kMostRows);
  };
  const std::size_t events = rows(data_->start_ns.size());
  try {
    data_->start_ns.reserve(events);
    data_->duration_ns.reserve(events);
    data_->name.reserve(events);
    data_->track.reserve(events);
    data_->category.reserve(events);
    data_->flags.reserve(events);
    data_->external_id.reserve(events);
    data_->correlation.reserve(events);
    rank_.reserve(events);
    data_->memory.reserve(rows(data_->memory.size()));
    data_->flows.reserve(rows(data_->flows.size()));
    for (ArgumentValues& column : data_->arguments) column.expect(times, kMostRows);
    for (ArgumentValues& column : data_->memory_arguments) column.expect(times, kMostRows);
  } catch (const std::bad_alloc&) {
    // This was only a guess; the columns grow as needed.
  }
}

std::size_t TraceBuilder::event_count() const { return data_->start_ns.size(); }

ArgumentValues& TraceBuilder::values(Argument argument) {
  return data_->arguments[index(argument)];
}

EventId TraceBuilder::add_event(const EventRow& row) {
  const std::size_t event = data_->start_ns.size();
  data_->start_ns.push_back(row.start_ns);
  data_->duration_ns.push_back(row.duration_ns);
  data_->name.push_back(row.name);
  data_->track.push_back(row.track);
  data_->category.push_back(row.category);
  data_->flags.push_back(row.flags);
  data_->external_id.set(event, row.external_id);
  data_->correlation.set(event, row.correlation);
  rank_.set(event, row.rank);
  return static_cast<EventId>(event);
}

void TraceBuilder::add_memory(const MemoryRecord& record) { data_->memory.push_back(record); }

void TraceBuilder::add_memory_argument(Argument argument, std::int64_t value) {
  data_->memory_arguments[index(argument)].set(data_->memory.size() - 1, value);
}
void TraceBuilder::add_flow(const FlowEnd& flow) { data_->flows.push_back(flow); }

void TraceBuilder::name_process(TrackKey process, StringId name) {
  lookup_->process_names[process] = name;
}

void TraceBuilder::name_thread(TrackId track, StringId name) {
  data_->tracks[index(track)].thread_name = name;
}

void TraceBuilder::set_metadata(std::string_view key, std::string_view json) {
  if (key == "baseTimeNanoseconds") data_->base_time_ns = whole_number(json).value_or(0);
  std::string canonical;
  const bool is_json = wire::append_canonical_json(canonical, json);
  data_->metadata.insert_or_assign(std::string(key), is_json ? canonical : std::string(json));
}

void TraceBuilder::set_arguments_read(ArgumentSet arguments) { data_->arguments_read = arguments; }

TraceBuilder::Translation& TraceBuilder::translation_of(const EventBatch& rows) {
  std::vector<Translation>& translations = lookup_->translations;
  if (translations.size() <= rows.reader) translations.resize(std::size_t{rows.reader} + 1);
  Translation& translation = translations[rows.reader];
  translation.begin(*this, rows);
  return translation;
}

void TraceBuilder::add(const EventBatch& rows) {
  Translation& translation = translation_of(rows);
  add_range_ends(rows, translation);
  add_ranges(rows, translation);
  add_memory(rows, translation);
  add_marks(rows, translation);
  // Rows are copied as they are and changed afterwards: a copy of what was just changed would wait.
  for (const FlowEnd& end : rows.flows) {
    FlowEnd& own = *data_->flows.extend(1);
    own = end;
    own.track = translation.track(end.track);
  }
  for (const EventBatch::Label& label : rows.labels) {
    const StringId name = translation.text(label.name);
    if (label.is_process) {
      name_process(translation.key(label.process), name);
    } else {
      name_thread(translation.track(label.track), name);
    }
  }
  if (rows.first_other_time_ns) {
    first_other_time_ns_ = std::min(first_other_time_ns_.value_or(*rows.first_other_time_ns),
                                    *rows.first_other_time_ns);
  }
}

void TraceBuilder::add_marks(const EventBatch& rows, Translation& translation) {
  for (const Instant& instant : rows.instants) {
    data_->instants.push_back({instant.time_ns, translation.key(instant.process),
                               translation.key(instant.thread), translation.text(instant.name),
                               translation.text(instant.arguments)});
  }
  for (const CounterValue& each : rows.counter_values) {
    data_->counter_values.push_back({each.time_ns, each.value, translation.key(each.process),
                                     translation.text(each.name), translation.text(each.series)});
  }
}

void TraceBuilder::add_ranges(const EventBatch& rows, Translation& translation) {
  const std::size_t first = data_->start_ns.size();
  const std::size_t room = kMostEvents - first;
  if (rows.ranges.size() > room) {
    issues_.add_anywhere(IssueId::too_many_events, rows.ranges.size() - room);
  }
  const std::size_t count = std::min(rows.ranges.size(), room);
  std::int64_t* start_ns = data_->start_ns.extend(count);
  std::int64_t* duration_ns = data_->duration_ns.extend(count);
  StringId* name = data_->name.extend(count);
  TrackId* track = data_->track.extend(count);
  CategoryId* category = data_->category.extend(count);
  std::uint8_t* flags = data_->flags.extend(count);
  for (std::size_t number = 0; number < count; ++number) {
    const EventRow& row = rows.ranges[number];
    *start_ns++ = row.start_ns;
    *duration_ns++ = row.duration_ns;
    *name++ = translation.text(row.name);
    *track++ = translation.track(row.track);
    *category++ = translation.category(row.category);
    *flags++ = row.flags;
    has_begun_ranges_ = has_begun_ranges_ || (row.flags & Events::kBegun) != 0;
    data_->external_id.set(first + number, row.external_id);
    data_->correlation.set(first + number, row.correlation);
    rank_.set(first + number, row.rank);
  }
  for (const EventBatch::Value& value : rows.range_values) {
    if (value.row >= count) break;
    set(values(value.argument), first + value.row, rows, value, translation);
  }
}

void TraceBuilder::set(ArgumentValues& column, std::size_t row, const EventBatch& rows,
                       const EventBatch::Value& value, Translation& translation) {
  switch (argument_row(value.argument).type) {
    case ArgumentType::integer:
    case ArgumentType::mark:
      column.set(row, value.integer);
      break;
    case ArgumentType::real:
      column.set(row, value.real);
      break;
    case ArgumentType::text:
    case ArgumentType::json:
      column.set(row, translation.text(value.text));
      break;
    case ArgumentType::dim3:
      column.set(row, rows.dims[value.dims]);
  }
}

/// Call this before adding the ranges of the same rows: an end's position is given by their
/// numbers.
void TraceBuilder::add_range_ends(const EventBatch& rows, Translation& translation) {
  const std::size_t first_end = range_ends_.size();
  const std::size_t first_event = data_->start_ns.size();
  for (const EventBatch::RangeEnd& end : rows.range_ends) {
    range_ends_.push_back({end.time_ns, translation.track(end.track), translation.text(end.name),
                           static_cast<EventId>(first_event + end.ranges_before)});
  }
  for (const EventBatch::Value& value : rows.range_end_values) {
    ArgumentValues& column = lookup_->end_arguments[value.argument];
    set(column, first_end + value.row, rows, value, translation);
  }
}

void TraceBuilder::add_memory(const EventBatch& rows, Translation& translation) {
  const std::size_t first = data_->memory.size();
  for (const MemoryRecord& record : rows.memory) {
    MemoryRecord& own = *data_->memory.extend(1);
    own = record;
    own.track = translation.track(record.track);
  }
  for (const EventBatch::Value& value : rows.memory_values) {
    set(data_->memory_arguments[index(value.argument)], first + value.row, rows, value,
        translation);
  }
}

}  // namespace tbtrace
