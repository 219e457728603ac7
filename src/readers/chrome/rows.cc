#include "readers/chrome/rows.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/decimal.h"
#include "base/hash.h"
#include "readers/chrome/grid_sizes.h"
#include "readers/chrome/row_times.h"
#include "trace/memory_names.h"

namespace tbtrace::readers {
namespace {

/// Arguments that a row itself holds, whatever was asked for.
constexpr ArgumentSet kRowArguments =
    ArgumentSet{ArgumentGroup::row} |
    ArgumentSet{Argument::python_id, Argument::python_module_id, Argument::label};

constexpr ArgumentSet kIds = {Argument::external_id, Argument::correlation};

/// What flows of a category mean.
FlowEnd::Type flow_type(std::string_view category) {
  if (category == "fwdbwd" || category == "forward_backward") {
    return FlowEnd::Type::forward_backward;
  }
  if (category == "ac2g" || category.starts_with("async") || category.starts_with("cpu_to_")) {
    return FlowEnd::Type::launch;
  }
  return FlowEnd::Type::other;
}

std::int16_t small(std::int64_t value) {
  return std::in_range<std::int16_t>(value) ? static_cast<std::int16_t>(value) : std::int16_t{-1};
}

}  // namespace

ArgumentSet RowRequest::keys() const { return arguments | kRowArguments; }

ChromeRows::ChromeRows(const RowRequest& request, std::uint32_t reader)
    : request_(request), tables_(batch_, issues_) {
  batch_.reader = reader;
  if (request.members) return;
  const ArgumentSet allocations = {ArgumentGroup::allocations};
  const ArgumentSet values = values_of(request.arguments);
  range_values_ = values - allocations;
  memory_values_ = values - range_values_;
}

void ChromeRows::clear() {
  batch_.clear();
  issues_ = {};
  has_elements_ = false;
  has_events_ = false;
  is_by_layout_ = false;
  kept_.clear();
  tables_.limit();
}

void ChromeRows::discard() {
  if (has_elements_) tables_.renew();
  clear();
}

void ChromeRows::restart() {
  clear();
  tables_.renew();
}

void ChromeRows::add_lost(IssueId id, std::uint64_t offset) {
  has_elements_ = true;
  issues_.begin_loss(id, offset);
}

void ChromeRows::add_no_event(std::uint64_t offset, std::uint64_t end) {
  has_elements_ = true;
  issues_.add_lost(IssueId::event_incomplete, offset, end);
}

/// The current event does not count.
void ChromeRows::drop(IssueId id, std::uint64_t offset) { issues_.add_lost(id, offset, end_); }

void ChromeRows::add(const RawEvent& event, std::uint64_t offset, std::uint64_t end) {
  has_elements_ = true;
  end_ = end;
  if (event.repeats_a_key) issues_.add(IssueId::repeated_key, offset);
  const std::optional<RowKind> kind = kind_of(event, offset);
  if (!kind) {
    drop(IssueId::event_incomplete, offset);
    return;
  }
  if (!request_.members) {
    if (*kind == RowKind::range) {  // as most are
      add_range(event, offset);
    } else {
      add_row(*kind, event, offset);
    }
    return;
  }
  const bool is_flow = *kind == RowKind::flow || *kind == RowKind::flow_step;
  if (is_flow && !request_.flow_members) return;
  const std::size_t number = next_number(*kind);
  if (add_row(*kind, event, offset)) add_members(*kind, event, number);
}

/// False if there is none.
bool ChromeRows::read_phase(const RawEvent& event, std::uint64_t offset) {
  const Token& token = event[EventField::phase];
  const bool is_letter = event.has(EventField::phase) && token.is_string() && token.size == 1;
  if (!is_letter) {
    const std::string_view phase = tables_.meaning(event, EventField::phase);
    if (phase.empty()) return false;
    tables_.check_scalar(token, offset);
    phase_ = phase.size() == 1 ? phase[0] : '\0';
  } else {
    phase_ = *token.data;
  }
  has_events_ = true;
  return true;
}

/// Nothing for what lacks a phase, or a range without a name or a time.
std::optional<RowKind> ChromeRows::kind_of(const RawEvent& event, std::uint64_t offset) {
  if (!read_phase(event, offset)) return std::nullopt;
  const bool has_name = RowTables::is_given(event, EventField::name);
  const bool has_time = RowTables::is_given(event, EventField::timestamp);
  switch (phase_) {
    case 'X':
      if (!has_name || !has_time) return std::nullopt;
      // torch's Python writer gives memory records a length; it means nothing.
      return tables_.means(event, EventField::category, kMemoryCategory) && is_memory(event)
                 ? RowKind::memory
                 : RowKind::range;
    case 'B':
      return has_name && has_time ? std::optional(RowKind::range) : std::nullopt;
    case 'E':
      return has_time ? std::optional(RowKind::range_end) : std::nullopt;
    case 'i':
    case 'I':
      return is_memory(event) ? RowKind::memory : RowKind::instant;
    case 'C':
      return RowKind::instant;
    case 's':
    case 't':
    case 'f':
      flow_type_ = flow_type(tables_.meaning(event, EventField::category));
      if (flow_type_ == FlowEnd::Type::other) return RowKind::instant;
      return phase_ == 't' ? RowKind::flow_step : RowKind::flow;
    case 'M':
      return RowKind::label;
    default:
      return RowKind::unsupported;
  }
}

bool ChromeRows::is_memory(const RawEvent& event) {
  return tables_.means(event, EventField::name, kMemoryName) ||
         tables_.means(event, EventField::name, kOutOfMemoryName);
}

std::size_t ChromeRows::next_number(RowKind kind) const {
  switch (kind) {
    case RowKind::range:
      return batch_.ranges.size();
    case RowKind::range_end:
      return batch_.range_ends.size();
    case RowKind::memory:
      return batch_.memory.size();
    case RowKind::flow:
      return batch_.flows.size();
    default:
      return batch_.others.size();
  }
}

/// False if the event is dropped for what is wrong with it.
bool ChromeRows::add_row(RowKind kind, const RawEvent& event, std::uint64_t offset) {
  switch (kind) {
    case RowKind::range:
      return add_range(event, offset);
    case RowKind::range_end:
      return add_range_end(event, offset);
    case RowKind::memory:
      return add_memory(event, offset);
    case RowKind::flow:
      return add_flow(event, offset);
    case RowKind::label:
      add_label(event, offset);
      break;
    case RowKind::instant:
      note_time(event);
      if (!request_.members && phase_ == 'C') add_counter(event, offset);
      if (!request_.members && (phase_ == 'i' || phase_ == 'I')) add_instant(event, offset);
      break;
    case RowKind::flow_step:
      note_time(event);
      break;
    case RowKind::unsupported:
      issues_.add(IssueId::phase_unsupported, offset);
      note_time(event);
  }
  if (request_.members) add_other(event, offset);
  return true;
}

bool ChromeRows::add_range(const RawEvent& event, std::uint64_t offset) {
  if (request_.members && request_.times_are_sound) return add_counted_range();
  RangeTimes times;
  if (!read_range_times(event, times)) {
    drop(IssueId::time_unreadable, offset);
    return false;
  }
  if (times.is_negative) issues_.add(IssueId::negative_duration, offset);
  if (request_.members) return add_counted_range();
  const auto number = static_cast<std::uint32_t>(batch_.ranges.size());
  EventRow& row = batch_.ranges.emplace_back();  // in place: a copy would wait for each field
  row.start_ns = times.start_ns;
  row.duration_ns = times.duration_ns;
  const bool has_external_id =
      event.has(Argument::external_id) && id(event, Argument::external_id, row.external_id, offset);
  if (event.has(Argument::correlation)) {
    id(event, Argument::correlation, row.correlation, offset);
  }
  if (event.has(Argument::event_index)) row.rank = rank(event, offset);
  row.name = tables_.text(event[EventField::name], offset);
  row.track = tables_.track(event, offset);
  row.category = tables_.category(event, offset);
  row.flags = flags(event);
  if (has_external_id && row.external_id == 0) row.flags |= Events::kZeroExternalId;
  // Python frames always end; the writer marks those of no length, and lengthens them, by mistake.
  constexpr std::uint8_t kOpenFrame = Events::kPythonFrame | Events::kUnfinished;
  if ((row.flags & kOpenFrame) == kOpenFrame) {
    row.flags &= static_cast<std::uint8_t>(~Events::kUnfinished);
    row.duration_ns = 0;
  }
  if ((event.argument_bits & range_values_.bits()) != 0) {
    add_values(event, range_values_, number, batch_.range_values, offset);
  }
  batch_.first_ns = std::min(batch_.first_ns, row.start_ns);
  batch_.last_ns = std::max(batch_.last_ns, row.start_ns + row.duration_ns);
  return true;
}

/// A range of the second pass: only its number counts, and whether another row ends it.
bool ChromeRows::add_counted_range() {
  EventRow& row = batch_.ranges.emplace_back();
  if (phase_ == 'B') row.flags = Events::kBegun;
  return true;
}

/// A missing duration is 0. How long one may be follows from the end alone: a `B` and an `E` event
/// may be just as far apart.
bool ChromeRows::read_range_times(const RawEvent& event, RangeTimes& times) {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  if (!read_time(event, EventField::timestamp, start)) return false;
  const bool has_duration = phase_ == 'X' && RowTables::is_given(event, EventField::duration);
  if (has_duration &&
      !parse_padded_microseconds(tables_.meaning(event[EventField::duration]), duration)) {
    return false;
  }
  return range_times(start, duration, times);
}

std::uint8_t ChromeRows::flags(const RawEvent& event) {
  constexpr ArgumentSet kMarks = {Argument::finished, Argument::asynchronous, Argument::python_id,
                                  Argument::python_module_id};
  std::uint8_t flags = 0;
  if (phase_ == 'B') flags |= Events::kBegun;
  if ((event.argument_bits & kMarks.bits()) == 0) return flags;
  if (event.has(Argument::finished) && tables_.meaning(event[Argument::finished]) == "false") {
    flags |= Events::kUnfinished;
  }
  if (event.has(Argument::asynchronous) &&
      tables_.meaning(event[Argument::asynchronous]) == "true") {
    flags |= Events::kAsynchronous;
  }
  if (RowTables::is_given(event, Argument::python_id)) flags |= Events::kPythonFrame;
  if (RowTables::is_given(event, Argument::python_module_id)) flags |= Events::kModule;
  return flags;
}

bool ChromeRows::add_range_end(const RawEvent& event, std::uint64_t offset) {
  std::int64_t at;
  if (!read_time(event, EventField::timestamp, at)) {
    drop(IssueId::time_unreadable, offset);
    return false;
  }
  const auto number = static_cast<std::uint32_t>(batch_.range_ends.size());
  EventBatch::RangeEnd& end = batch_.range_ends.emplace_back();
  if (request_.members) return true;
  end.time_ns = at;
  end.track = tables_.track(event, offset);
  if (RowTables::is_given(event, EventField::name)) {
    end.name = tables_.text(event[EventField::name], offset);
  }
  end.ranges_before = static_cast<std::uint32_t>(batch_.ranges.size());
  add_values(event, range_values_ | kIds, number, batch_.range_end_values, offset);
  return true;
}

bool ChromeRows::add_memory(const RawEvent& event, std::uint64_t offset) {
  std::int64_t at;
  if (!read_time(event, EventField::timestamp, at)) {
    const bool has_time = RowTables::is_given(event, EventField::timestamp);
    drop(has_time ? IssueId::time_unreadable : IssueId::event_incomplete, offset);
    return false;
  }
  const auto row = static_cast<std::uint32_t>(batch_.memory.size());
  MemoryRecord& record = batch_.memory.emplace_back();
  record.time_ns = at;
  record.bytes = number(event, Argument::allocated_bytes, 0, offset);
  record.total_allocated_bytes =
      std::max<std::int64_t>(number(event, Argument::total_allocated, -1, offset), -1);
  record.track = tables_.track(event, offset);
  record.event_rank = rank(event, offset);
  record.device_type =
      static_cast<DeviceType>(small(number(event, Argument::allocation_device_type, 0, offset)));
  record.device_id = small(number(event, Argument::allocation_device_id, -1, offset));
  record.out_of_memory = tables_.means(event, EventField::name, kOutOfMemoryName);
  add_values(event, memory_values_, row, batch_.memory_values, offset);
  return true;
}

bool ChromeRows::add_flow(const RawEvent& event, std::uint64_t offset) {
  std::int64_t at;
  const bool is_given = RowTables::is_given(event, EventField::timestamp) &&
                        RowTables::is_given(event, EventField::flow_id);
  if (!is_given || !read_time(event, EventField::timestamp, at)) {
    drop(is_given ? IssueId::time_unreadable : IssueId::event_incomplete, offset);
    return false;
  }
  FlowEnd& end = batch_.flows.emplace_back();
  end.type = flow_type_;
  end.id = flow_id(event[EventField::flow_id], offset);
  end.time_ns = at;
  end.track = tables_.track(event, offset);
  end.start = phase_ == 's';
  return true;
}

void ChromeRows::add_label(const RawEvent& event, std::uint64_t offset) {
  if (!RowTables::is_given(event, Argument::label)) return;
  const std::string_view what = tables_.meaning(event, EventField::name);
  const bool is_process = what == "process_name";
  if (!is_process && what != "thread_name") return;
  EventBatch::Label& label = batch_.labels.emplace_back();
  label.name = tables_.text(event[Argument::label], offset);
  label.is_process = is_process;
  if (is_process) {
    label.process = tables_.process(event, offset);
  } else {
    label.track = tables_.track(event, offset);
  }
}

void ChromeRows::note_time(const RawEvent& event) {
  std::int64_t at;
  if (read_time(event, EventField::timestamp, at)) {
    batch_.first_other_time_ns = std::min(batch_.first_other_time_ns.value_or(at), at);
  }
}

void ChromeRows::add_other(const RawEvent& event, std::uint64_t offset) {
  EventBatch::Other& other = batch_.others.emplace_back();
  const auto text_of = [&](EventField field) {
    return RowTables::is_given(event, field) ? tables_.text(event[field], offset) : StringId::empty;
  };
  other.phase = text_of(EventField::phase);
  other.name = text_of(EventField::name);
  other.category = text_of(EventField::category);
  other.track = tables_.track(event, offset);
  other.has_thread = RowTables::is_given(event, EventField::thread);
  std::int64_t at;
  if (read_time(event, EventField::timestamp, at)) other.time_ns = at;
}

void ChromeRows::add_values(const RawEvent& event, ArgumentSet wanted, std::uint32_t row,
                            std::vector<EventBatch::Value>& values, std::uint64_t offset) {
  for (std::uint64_t bits = event.argument_bits & wanted.bits(); bits != 0; bits &= bits - 1) {
    const auto argument = static_cast<Argument>(std::countr_zero(bits));
    EventBatch::Value& value = values.emplace_back();
    value.row = row;
    value.argument = argument;
    const Reading reading = read_value(event[argument], argument_row(argument).type, value, offset);
    if (reading == Reading::taken) continue;
    values.pop_back();
    if (reading == Reading::unreadable) issues_.add(IssueId::argument_unreadable, offset);
  }
}

ChromeRows::Reading ChromeRows::read_value(const Token& token, ArgumentType type,
                                           EventBatch::Value& value, std::uint64_t offset) {
  if (RowTables::is_null(token)) return Reading::absent;
  switch (type) {
    case ArgumentType::integer: {
      const bool is_integer = parse_padded_id(tables_.meaning(token), value.integer);
      return is_integer ? Reading::taken : Reading::unreadable;
    }
    case ArgumentType::real: {
      if (token.is_string()) return Reading::absent;  // Kineto writes "N/A" and "inf"
      const std::string_view text = token.text();
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.real);
      const bool is_number = error == std::errc() && end == text.data() + text.size();
      value.real += 0.0;  // -0.0 is 0
      return is_number && std::isfinite(value.real) ? Reading::taken : Reading::unreadable;
    }
    case ArgumentType::text:
    case ArgumentType::json:
      value.text =
          type == ArgumentType::text ? tables_.text(token, offset) : tables_.json(token, offset);
      return value.text == StringId::empty ? Reading::absent : Reading::taken;
    case ArgumentType::dim3: {
      auto dims = dim3_of(tables_.meaning(token));
      if (!dims) dims = dim3_of(tables_.canonical(tables_.meaning(token)));
      if (!dims) return Reading::unreadable;
      value.dims = static_cast<std::uint32_t>(batch_.dims.size());
      batch_.dims.push_back(*dims);
      return Reading::taken;
    }
    case ArgumentType::mark:
      break;
  }
  return Reading::absent;
}

/// False, and 0, if it is null or unreadable.
bool ChromeRows::id(const RawEvent& event, Argument argument, std::int64_t& id,
                    std::uint64_t offset) {
  const Token& token = event[argument];
  if (parse_padded_integer(token.text(), id)) return true;
  if (!RowTables::is_null(token)) {
    if (parse_padded_id(tables_.meaning(token), id)) return true;
    issues_.add(IssueId::id_unreadable, offset);
  }
  id = 0;
  return false;
}

std::int64_t ChromeRows::number(const RawEvent& event, Argument argument, std::int64_t absent,
                                std::uint64_t offset) {
  if (!RowTables::is_given(event, argument)) return absent;
  std::int64_t number;
  if (parse_padded_id(tables_.meaning(event[argument]), number)) return number;
  issues_.add(IssueId::argument_unreadable, offset);
  return absent;
}

std::uint32_t ChromeRows::rank(const RawEvent& event, std::uint64_t offset) {
  const std::int64_t index = number(event, Argument::event_index, -1, offset);
  if (index < 0 || index >= std::numeric_limits<std::uint32_t>::max()) return 0;
  return static_cast<std::uint32_t>(index) + 1;
}

/// False if it is not given or unreadable.
bool ChromeRows::read_time(const RawEvent& event, EventField field, std::int64_t& ns) {
  return RowTables::is_given(event, field) && time_ns(tables_.meaning(event[field]), ns);
}

/// Ids are numbers; text is told apart by its hash, which is the same in every run.
std::int64_t ChromeRows::flow_id(const Token& token, std::uint64_t offset) {
  const std::string_view text = tables_.meaning(token);
  std::int64_t number;
  if (parse_padded_id(text, number)) return number;
  tables_.check_scalar(token, offset);
  const std::string_view one = token.is_string() ? text : tables_.canonical(text);
  return static_cast<std::int64_t>(hash_bytes(one.empty() ? text : one, 0));
}

}  // namespace tbtrace::readers
