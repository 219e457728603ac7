#include "readers/chrome_events.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>

#include "base/decimal.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "wire/json_text.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;

constexpr std::string_view kMemoryName = "[memory]";
constexpr std::string_view kOutOfMemoryName = "[OutOfMemory]";
constexpr std::string_view kMemoryCategory = "cpu_instant_event";
constexpr std::int64_t kFarthest = std::int64_t{1} << 62;  // so that differences do not overflow
constexpr StringId kUnset = static_cast<StringId>(0xffffffff);
constexpr CategoryId kNoCategory = static_cast<CategoryId>(0xffff);  // a builder makes fewer

bool is_memory_name(std::string_view name) {
  return name == kMemoryName || name == kOutOfMemoryName;
}

std::int64_t integer(const RawEvent& event, Field field, std::int64_t absent) {
  if (!event.has(field)) return absent;
  return parse_padded_integer(event[field].text()).value_or(absent);
}

bool is_given(const RawEvent& event, Field field) {
  return event.has(field) && event[field].text() != "null";
}

std::uint32_t rank_of(const RawEvent& event) {
  const std::int64_t index = integer(event, Field::event_index, -1);
  if (index < 0 || index >= std::numeric_limits<std::uint32_t>::max()) return 0;
  return static_cast<std::uint32_t>(index) + 1;
}

std::optional<std::int64_t> time_of(const RawEvent& event, Field field) {
  if (!event.has(field)) return std::nullopt;
  const std::optional<std::int64_t> time = parse_padded_microseconds(event[field].text());
  if (!time || *time <= -kFarthest || *time >= kFarthest) return std::nullopt;
  return time;
}

std::int16_t small(std::int64_t value) {
  const bool fits = value >= std::numeric_limits<std::int16_t>::min() &&
                    value <= std::numeric_limits<std::int16_t>::max();
  return fits ? static_cast<std::int16_t>(value) : std::int16_t{-1};
}

/// The text as one word; 0 if it has more than 8 characters, or none.
std::uint64_t short_text(const Token& token) {
  if (token.size == 0 || token.size > 8) return 0;
  std::uint64_t word;
  std::memcpy(&word, token.data, sizeof word);
  return word << (8 * (8 - token.size)) >> (8 * (8 - token.size));
}

/// A quote without a backslash, which no JSON string holds.
bool holds_bare_quote(std::string_view content) {
  bool escaped = false;
  for (const char c : content) {
    if (c == '"' && !escaped) return true;
    escaped = c == '\\' && !escaped;
  }
  return false;
}

FlowEnd::Type flow_type(std::string_view category) {
  if (category == "fwdbwd" || category == "forward_backward")
    return FlowEnd::Type::forward_backward;
  if (category == "ac2g" || category.starts_with("async")) return FlowEnd::Type::launch;
  return FlowEnd::Type::other;
}

}  // namespace

void EventBatch::clear() {
  events.clear();
  categories.clear();
  inputs.clear();
  autograd.clear();
  call_stacks.clear();
  memory.clear();
  flows.clear();
  labels.clear();
}

std::size_t EventMapper::KeyPairHash::operator()(const KeyPair& pair) const {
  return hash_integer(
      static_cast<std::uint64_t>(pair.process.number) ^ index(pair.process.text) << 32,
      static_cast<std::uint64_t>(pair.thread.number) ^ index(pair.thread.text) << 32);
}

void EventMapper::begin(Quoting quoting, bool may_hold_escapes, bool known_utf8) {
  quoting_ = quoting;
  may_hold_escapes_ = may_hold_escapes;
  known_utf8_ = known_utf8;
}

void EventMapper::add(const RawEvent& event, std::uint64_t offset, EventBatch& batch) {
  if (event.has_repeated_key()) batch.issues.add(IssueId::repeated_key, offset);
  const std::string_view phase = event.has(Field::phase) ? event[Field::phase].text() : "";
  switch (phase.size() == 1 ? phase[0] : '\0') {
    case 'X':
      add_range(event, offset, batch);
      break;
    case 'i':
    case 'I':
      if (event.has(Field::name) && is_memory_name(event[Field::name].text())) {
        add_memory(event, offset, batch);
      }
      break;
    case 's':
    case 'f':
      add_flow(event, offset, batch);
      break;
    case 't':
      break;  // a stop on the way of an arrow
    case 'M':
      add_label(event, offset, batch);
      break;
    default:
      batch.issues.add(phase.empty() ? IssueId::event_incomplete : IssueId::phase_unsupported,
                       offset);
  }
}

void EventMapper::add_range(const RawEvent& event, std::uint64_t offset, EventBatch& batch) {
  if (!event.has(Field::name) || !event.has(Field::timestamp)) {
    batch.issues.add(IssueId::event_incomplete, offset);
    return;
  }
  // torch's Python writer gives memory records a length; it means nothing.
  if (event.has(Field::category) && event[Field::category].text() == kMemoryCategory &&
      is_memory_name(event[Field::name].text())) {
    add_memory(event, offset, batch);
    return;
  }
  const std::optional<std::int64_t> start = time_of(event, Field::timestamp);
  std::optional<std::int64_t> duration = 0;
  if (is_given(event, Field::duration)) duration = time_of(event, Field::duration);
  if (duration && *duration < 0) {
    batch.issues.add(IssueId::negative_duration, offset);
    duration = 0;
  }
  if (!start || !duration || *duration >= kFarthest - *start) {
    batch.issues.add(IssueId::time_unreadable, offset);
    return;
  }
  EventRow row;
  row.start_ns = *start;
  row.duration_ns = *duration;
  row.external_id = integer(event, Field::external_id, 0);
  row.correlation = integer(event, Field::correlation, 0);
  row.rank = rank_of(event);
  row.name = text(event[Field::name], batch, offset);
  row.track = track(event);
  if (event.has(Field::finished) && event[Field::finished].text() == "false") {
    // Python frames always end; the writer marks those of no length, and lengthens them, by
    // mistake.
    if (is_given(event, Field::python_id)) {
      row.duration_ns = 0;
    } else {
      row.flags |= Events::kUnfinished;
    }
  }
  if (row.external_id == 0 && is_given(event, Field::external_id)) {
    row.flags |= Events::kZeroExternalId;
  }
  if (is_given(event, Field::python_id)) row.flags |= Events::kPythonFrame;
  if (is_given(event, Field::python_module_id)) row.flags |= Events::kModule;
  batch.categories.push_back(event.has(Field::category)
                                 ? category(event[Field::category], batch, offset)
                                 : StringId::empty);
  add_details(event, static_cast<EventId>(batch.events.size()), offset, batch);
  batch.events.push_back(row);
}

void EventMapper::add_details(const RawEvent& event, EventId row, std::uint64_t offset,
                              EventBatch& batch) {
  const auto raw = [&](Field field) {
    if (!event.has(field)) return StringId::empty;
    return text(event[field], batch, offset);
  };
  if (wanted_.inputs && (event.has(Field::input_dims) || event.has(Field::input_types))) {
    batch.inputs.push_back(
        {row, raw(Field::input_dims), raw(Field::input_types), raw(Field::concrete_inputs)});
  }
  if (event.has(Field::sequence_number) || event.has(Field::forward_thread)) {
    batch.autograd.push_back({row, integer(event, Field::sequence_number, -1),
                              integer(event, Field::forward_thread, 0)});
  }
  if (wanted_.call_stacks && event.has(Field::call_stack)) {
    const StringId frames = raw(Field::call_stack);
    if (frames != StringId::empty) batch.call_stacks.push_back({row, frames});
  }
}

void EventMapper::add_memory(const RawEvent& event, std::uint64_t offset, EventBatch& batch) {
  const std::optional<std::int64_t> time = time_of(event, Field::timestamp);
  if (!time) {
    batch.issues.add(
        event.has(Field::timestamp) ? IssueId::time_unreadable : IssueId::event_incomplete, offset);
    return;
  }
  MemoryRecord record;
  record.time_ns = *time;
  record.bytes = integer(event, Field::bytes, 0);
  record.track = track(event);
  record.event_rank = rank_of(event);
  record.device_type = small(integer(event, Field::device_type, 0));
  record.device_id = small(integer(event, Field::device_id, -1));
  record.out_of_memory = event[Field::name].text() == kOutOfMemoryName;
  batch.memory.push_back(record);
}

void EventMapper::add_flow(const RawEvent& event, std::uint64_t offset, EventBatch& batch) {
  const FlowEnd::Type type =
      flow_type(event.has(Field::category) ? event[Field::category].text() : "");
  if (type == FlowEnd::Type::other) return;
  const std::optional<std::int64_t> time = time_of(event, Field::timestamp);
  if (!time || !event.has(Field::flow_id)) {
    batch.issues.add(IssueId::event_incomplete, offset);
    return;
  }
  FlowEnd end;
  end.id = flow_id(event[Field::flow_id]);
  end.time_ns = *time;
  end.track = track(event);
  end.type = type;
  end.start = event[Field::phase].text() == "s";
  batch.flows.push_back(end);
}

void EventMapper::add_label(const RawEvent& event, std::uint64_t offset, EventBatch& batch) {
  if (!event.has(Field::name) || !event.has(Field::label)) return;
  const std::string_view what = event[Field::name].text();
  const bool process = what == "process_name";
  if (!process && what != "thread_name") return;
  batch.labels.push_back({track(event), text(event[Field::label], batch, offset), process});
}

/// Ids are numbers; text is told apart by its hash, which is the same in every run.
std::int64_t EventMapper::flow_id(const Token& token) {
  if (const auto number = parse_padded_integer(token.text())) return *number;
  return static_cast<std::int64_t>(hash_bytes(token.text(), 0));
}

StringId EventMapper::text(const Token& token, EventBatch& batch, std::uint64_t offset) {
  std::string_view content = token.text();
  if (token.is_string() && may_hold_escapes_ && content.find('\\') != std::string_view::npos) {
    scratch_.clear();
    if (quoting_ == Quoting::escaped) {
      if (!wire::append_unescaped(scratch_, content)) {
        batch.issues.add(IssueId::unescaped_text, offset);
      }
    } else {
      // Kineto's writer knows one escape, that of the quote, and only since July 2026.
      for (std::size_t at = 0; at < content.size(); ++at) {
        if (content[at] == '\\' && at + 1 < content.size() && content[at + 1] == '"') ++at;
        scratch_.push_back(content[at]);
      }
    }
    content = scratch_;
  }
  if (!known_utf8_ && token.is_string() && holds_bare_quote(token.text())) {
    batch.issues.add(IssueId::unescaped_text, offset);
  }
  if (!known_utf8_ && !is_utf8(content)) {
    batch.issues.add(IssueId::invalid_utf8, offset);
    scratch_ = to_utf8(content);
    content = scratch_;
  }
  return static_cast<StringId>(strings_.intern(content));
}

StringId EventMapper::category(const Token& token, EventBatch& batch, std::uint64_t offset) {
  if (token.size == 0 || token.size > 16) return text(token, batch, offset);
  std::uint64_t first = short_text(token);
  std::uint64_t last = 0;
  if (token.size > 8) {
    std::memcpy(&first, token.data, sizeof first);
    std::memcpy(&last, token.data + token.size - sizeof last, sizeof last);
  }
  KnownText& known = known_categories_[hash_integer(first, last) % known_categories_.size()];
  if (known.size == token.size && known.first == first && known.last == last) return known.id;
  const StringId id = text(token, batch, offset);
  // Texts that take a closer look take it each time.
  const bool plain = known_utf8_ && token.text().find('\\') == std::string_view::npos;
  if (plain) known = {first, last, token.size, id};
  return id;
}

TrackKey EventMapper::key(const Token& token) {
  const std::string_view content = token.text();
  if (const auto number = parse_padded_integer(content)) return {*number, StringId::empty};
  if (content == "null") return {};
  if (is_utf8(content)) return {0, static_cast<StringId>(strings_.intern(content))};
  return {0, static_cast<StringId>(strings_.intern(to_utf8(content)))};
}

TrackId EventMapper::track(const RawEvent& event) {
  if (!event.has(Field::process) || !event.has(Field::thread)) return parse_track(event);
  const std::uint64_t process = short_text(event[Field::process]);
  const std::uint64_t thread = short_text(event[Field::thread]);
  if (process == 0 || thread == 0) return parse_track(event);
  KnownTrack& known = known_tracks_[hash_integer(process, thread) % known_tracks_.size()];
  if (known.process != process || known.thread != thread) {
    known = {process, thread, parse_track(event)};
  }
  return known.track;
}

TrackId EventMapper::parse_track(const RawEvent& event) {
  KeyPair pair;
  if (event.has(Field::process)) pair.process = key(event[Field::process]);
  pair.thread = event.has(Field::thread) ? key(event[Field::thread]) : pair.process;
  const auto [found, added] = track_ids_.try_emplace(pair, static_cast<TrackId>(tracks_.size()));
  if (added) tracks_.push_back(pair);
  return found->second;
}

void EventMapper::commit(EventBatch& batch, std::uint64_t offset, TraceBuilder& builder) {
  builder_strings_.resize(strings_.size(), kUnset);
  builder_tracks_.resize(tracks_.size(), static_cast<TrackId>(kUnset));
  builder_categories_.resize(strings_.size(), kNoCategory);
  // Details name events of this batch; the builder counts through all of them.
  std::size_t first_event = 0;
  for (std::size_t row = 0; row < batch.events.size(); ++row) {
    EventRow event = batch.events[row];
    event.name = committed(event.name, builder);
    event.track = committed(event.track, builder);
    event.category = committed_category(batch.categories[row], builder);
    const EventId added = builder.add_event(event);
    if (row == 0) first_event = index(added);
  }
  const auto shifted = [&](EventId row) { return static_cast<EventId>(first_event + index(row)); };
  for (const OperatorInputs& inputs : batch.inputs) {
    builder.add_inputs({shifted(inputs.event), committed(inputs.dims, builder),
                        committed(inputs.types, builder), committed(inputs.concrete, builder)});
  }
  for (AutogradInfo info : batch.autograd) {
    info.event = shifted(info.event);
    builder.add_autograd(info);
  }
  for (const CallStack& stack : batch.call_stacks) {
    builder.add_call_stack({shifted(stack.event), committed(stack.frames, builder)});
  }
  for (MemoryRecord record : batch.memory) {
    record.track = committed(record.track, builder);
    builder.add_memory(record);
  }
  for (FlowEnd end : batch.flows) {
    end.track = committed(end.track, builder);
    builder.add_flow(end);
  }
  for (const EventBatch::Label& label : batch.labels) {
    const StringId name = committed(label.name, builder);
    if (label.process) {
      builder.name_process(committed(tracks_[index(label.track)].process, builder), name);
    } else {
      builder.name_thread(committed(label.track, builder), name);
    }
  }
  builder.issues().take(batch.issues, offset);
}

StringId EventMapper::committed(StringId own, TraceBuilder& builder) {
  StringId& known = builder_strings_[index(own)];
  if (known == kUnset) known = builder.intern(strings_[static_cast<std::uint32_t>(own)]);
  return known;
}

CategoryId EventMapper::committed_category(StringId own, TraceBuilder& builder) {
  CategoryId& known = builder_categories_[index(own)];
  if (known == kNoCategory) known = builder.category(committed(own, builder));
  return known;
}

TrackKey EventMapper::committed(TrackKey own, TraceBuilder& builder) {
  return {own.number, committed(own.text, builder)};
}

TrackId EventMapper::committed(TrackId own, TraceBuilder& builder) {
  TrackId& known = builder_tracks_[index(own)];
  if (known == static_cast<TrackId>(kUnset)) {
    const KeyPair& pair = tracks_[index(own)];
    known = builder.track(committed(pair.process, builder), committed(pair.thread, builder));
  }
  return known;
}

}  // namespace tbtrace::readers
