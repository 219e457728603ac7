#include "readers/chrome_events.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>

#include "base/decimal.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "readers/event_row.h"

namespace tbtrace::readers {
namespace {

constexpr std::string_view kOutOfMemoryName = "[OutOfMemory]";
constexpr StringId kUnset = static_cast<StringId>(0xffffffff);
constexpr CategoryId kNoCategory = static_cast<CategoryId>(0xffff);  // a builder makes fewer

std::int64_t integer(const RawEvent& event, Field field, std::int64_t absent) {
  if (!event.has(field)) return absent;
  return parse_padded_integer(event[field].text()).value_or(absent);
}

std::uint32_t rank_of(const RawEvent& event) {
  const std::int64_t index = integer(event, Field::event_index, -1);
  if (index < 0 || index >= std::numeric_limits<std::uint32_t>::max()) return 0;
  return static_cast<std::uint32_t>(index) + 1;
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
  first_other_time.reset();
}

std::size_t EventMapper::KeyPairHash::operator()(const KeyPair& pair) const {
  return hash_integer(
      static_cast<std::uint64_t>(pair.process.number) ^ index(pair.process.text) << 32,
      static_cast<std::uint64_t>(pair.thread.number) ^ index(pair.thread.text) << 32);
}

void EventMapper::add(const RawEvent& event, std::uint64_t offset) {
  if (event.has_repeated_key()) batch_.issues.add(IssueId::repeated_key, offset);
  switch (row_kind(event)) {
    case RowKind::range:
      add_range(event, offset);
      break;
    case RowKind::memory:
      add_memory(event, offset);
      break;
    case RowKind::flow:
      add_flow(event, offset);
      break;
    case RowKind::label:
      add_label(event, offset);
      break;
    case RowKind::instant:
      add_other(event);
      break;
    case RowKind::unsupported:
      add_other(event);
      batch_.issues.add(IssueId::phase_unsupported, offset);
      break;
    case RowKind::incomplete:
      batch_.issues.add(IssueId::event_incomplete, offset);
  }
}

void EventMapper::add_range(const RawEvent& event, std::uint64_t offset) {
  const std::optional<RangeTimes> times = range_times(event);
  if (!times || times->negative) {
    batch_.issues.add(times ? IssueId::negative_duration : IssueId::time_unreadable, offset);
    if (!times) return;
  }
  EventRow row;
  row.start_ns = times->start_ns;
  row.duration_ns = times->duration_ns;
  row.external_id = integer(event, Field::external_id, 0);
  row.correlation = integer(event, Field::correlation, 0);
  row.rank = rank_of(event);
  row.name = text(event[Field::name], offset);
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
  if (event.has(Field::asynchronous) && event[Field::asynchronous].text() == "true") {
    row.flags |= Events::kAsynchronous;
  }
  if (row.external_id == 0 && is_given(event, Field::external_id)) {
    row.flags |= Events::kZeroExternalId;
  }
  if (is_given(event, Field::python_id)) row.flags |= Events::kPythonFrame;
  if (is_given(event, Field::python_module_id)) row.flags |= Events::kModule;
  batch_.categories.push_back(event.has(Field::category) ? category(event[Field::category], offset)
                                                         : category_without_text(event));
  add_details(event, static_cast<EventId>(batch_.events.size()), offset);
  batch_.events.push_back(row);
}

void EventMapper::add_details(const RawEvent& event, EventId row, std::uint64_t offset) {
  const auto raw = [&](Field field) {
    if (!event.has(field)) return StringId::empty;
    return text(event[field], offset);
  };
  if (wanted_.inputs && (event.has(Field::input_dims) || event.has(Field::input_types))) {
    batch_.inputs.push_back(
        {row, raw(Field::input_dims), raw(Field::input_types), raw(Field::concrete_inputs)});
  }
  if (event.has(Field::sequence_number) || event.has(Field::forward_thread)) {
    batch_.autograd.push_back({row, integer(event, Field::sequence_number, -1),
                               integer(event, Field::forward_thread, 0)});
  }
  if (wanted_.call_stacks && event.has(Field::call_stack)) {
    const StringId frames = raw(Field::call_stack);
    if (frames != StringId::empty) batch_.call_stacks.push_back({row, frames});
  }
}

void EventMapper::add_memory(const RawEvent& event, std::uint64_t offset) {
  const std::optional<std::int64_t> time = time_of(event, Field::timestamp);
  if (!time) {
    batch_.issues.add(
        event.has(Field::timestamp) ? IssueId::time_unreadable : IssueId::event_incomplete, offset);
    return;
  }
  MemoryRecord record;
  record.time_ns = *time;
  record.bytes = integer(event, Field::bytes, 0);
  record.total_allocated_bytes =
      std::max<std::int64_t>(integer(event, Field::total_allocated, -1), -1);
  record.track = track(event);
  record.event_rank = rank_of(event);
  record.device_type = small(integer(event, Field::device_type, 0));
  record.device_id = small(integer(event, Field::device_id, -1));
  record.out_of_memory = event[Field::name].text() == kOutOfMemoryName;
  batch_.memory.push_back(record);
}

void EventMapper::add_flow(const RawEvent& event, std::uint64_t offset) {
  const FlowEnd::Type type =
      flow_type(event.has(Field::category) ? event[Field::category].text() : "");
  if (type == FlowEnd::Type::other) {
    add_other(event);
    return;
  }
  const std::optional<std::int64_t> time = time_of(event, Field::timestamp);
  if (!time || !event.has(Field::flow_id)) {
    batch_.issues.add(IssueId::event_incomplete, offset);
    return;
  }
  FlowEnd end;
  end.id = flow_id(event[Field::flow_id]);
  end.time_ns = *time;
  end.track = track(event);
  end.type = type;
  end.start = event[Field::phase].text() == "s";
  batch_.flows.push_back(end);
}

void EventMapper::add_label(const RawEvent& event, std::uint64_t offset) {
  if (!event.has(Field::name) || !event.has(Field::label)) return;
  const std::string_view what = event[Field::name].text();
  const bool process = what == "process_name";
  if (!process && what != "thread_name") return;
  batch_.labels.push_back({track(event), text(event[Field::label], offset), process});
}

void EventMapper::add_other(const RawEvent& event) {
  const std::optional<std::int64_t> time = time_of(event, Field::timestamp);
  if (time) batch_.first_other_time = std::min(batch_.first_other_time.value_or(*time), *time);
}

/// Ids are numbers; text is told apart by its hash, which is the same in every run.
std::int64_t EventMapper::flow_id(const Token& token) {
  if (const auto number = parse_padded_integer(token.text())) return *number;
  return static_cast<std::int64_t>(hash_bytes(token.text(), 0));
}

StringId EventMapper::text(const Token& token, std::uint64_t offset) {
  const DecodedText decoded = decode(token, rules_, scratch_);
  if (decoded.unescaped) batch_.issues.add(IssueId::unescaped_text, offset);
  if (decoded.invalid_utf8) batch_.issues.add(IssueId::invalid_utf8, offset);
  return static_cast<StringId>(strings_.intern(decoded.text));
}

StringId EventMapper::category(const Token& token, std::uint64_t offset) {
  if (token.size == 0 || token.size > 16) return text(token, offset);
  std::uint64_t first = short_text(token);
  std::uint64_t last = 0;
  if (token.size > 8) {
    std::memcpy(&first, token.data, sizeof first);
    std::memcpy(&last, token.data + token.size - sizeof last, sizeof last);
  }
  KnownText& known = known_categories_[hash_integer(first, last) % known_categories_.size()];
  if (known.size == token.size && known.first == first && known.last == last) return known.id;
  const StringId id = text(token, offset);
  // Texts that take a closer look take it each time.
  if (is_plain(token, rules_)) known = {first, last, token.size, id};
  return id;
}

/// torch.autograd.profiler wrote no categories, but a process for what runs on GPUs.
StringId EventMapper::category_without_text(const RawEvent& event) {
  if (!event.has(Field::process) || event[Field::process].text() != "CUDA functions") {
    return StringId::empty;
  }
  const std::string_view name = event[Field::name].text();
  return static_cast<StringId>(strings_.intern(name.starts_with("Memcpy")   ? "gpu_memcpy"
                                               : name.starts_with("Memset") ? "gpu_memset"
                                                                            : "kernel"));
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

void EventMapper::commit(std::uint64_t offset) {
  builder_strings_.resize(strings_.size(), kUnset);
  builder_tracks_.resize(tracks_.size(), static_cast<TrackId>(kUnset));
  builder_categories_.resize(strings_.size(), kNoCategory);
  // Details name events of this batch; the builder counts through all of them.
  std::size_t first_event = 0;
  for (std::size_t row = 0; row < batch_.events.size(); ++row) {
    EventRow event = batch_.events[row];
    event.name = committed(event.name);
    event.track = committed(event.track);
    event.category = committed_category(batch_.categories[row]);
    const EventId added = builder_.add_event(event);
    if (row == 0) first_event = index(added);
  }
  const auto shifted = [&](EventId row) { return static_cast<EventId>(first_event + index(row)); };
  for (const OperatorInputs& inputs : batch_.inputs) {
    builder_.add_inputs({shifted(inputs.event), committed(inputs.dims), committed(inputs.types),
                         committed(inputs.concrete)});
  }
  for (AutogradInfo info : batch_.autograd) {
    info.event = shifted(info.event);
    builder_.add_autograd(info);
  }
  for (const CallStack& stack : batch_.call_stacks) {
    builder_.add_call_stack({shifted(stack.event), committed(stack.frames)});
  }
  for (MemoryRecord record : batch_.memory) {
    record.track = committed(record.track);
    builder_.add_memory(record);
  }
  for (FlowEnd end : batch_.flows) {
    end.track = committed(end.track);
    builder_.add_flow(end);
  }
  for (const EventBatch::Label& label : batch_.labels) {
    const StringId name = committed(label.name);
    if (label.process) {
      builder_.name_process(committed(tracks_[index(label.track)].process), name);
    } else {
      builder_.name_thread(committed(label.track), name);
    }
  }
  if (batch_.first_other_time) builder_.note_time(*batch_.first_other_time);
  builder_.issues().take(batch_.issues, offset);
  batch_.clear();
}

void EventMapper::discard() {
  batch_.clear();
  batch_.issues = {};
}

StringId EventMapper::committed(StringId own) {
  StringId& known = builder_strings_[index(own)];
  if (known == kUnset) known = builder_.intern(strings_[static_cast<std::uint32_t>(own)]);
  return known;
}

CategoryId EventMapper::committed_category(StringId own) {
  CategoryId& known = builder_categories_[index(own)];
  if (known == kNoCategory) known = builder_.category(committed(own));
  return known;
}

TrackKey EventMapper::committed(TrackKey own) { return {own.number, committed(own.text)}; }

TrackId EventMapper::committed(TrackId own) {
  TrackId& known = builder_tracks_[index(own)];
  if (known == static_cast<TrackId>(kUnset)) {
    const KeyPair& pair = tracks_[index(own)];
    known = builder_.track(committed(pair.process), committed(pair.thread));
  }
  return known;
}

}  // namespace tbtrace::readers
