#include "readers/event_row.h"

#include "base/decimal.h"

namespace tbtrace::readers {
namespace {

constexpr std::string_view kMemoryCategory = "cpu_instant_event";
constexpr std::int64_t kFarthest = std::int64_t{1} << 62;  // so that differences do not overflow

bool is_memory_name(std::string_view name) { return name == "[memory]" || name == "[OutOfMemory]"; }

bool is_named_memory(const RawEvent& event) {
  return event.has(Field::name) && is_memory_name(event[Field::name].text());
}

/// torch's Python writer gives memory records a length; it means nothing.
bool is_memory_with_length(const RawEvent& event) {
  return event.has(Field::category) && event[Field::category].text() == kMemoryCategory &&
         is_named_memory(event);
}

}  // namespace

RowKind row_kind(const RawEvent& event) {
  const std::string_view phase = event.has(Field::phase) ? event[Field::phase].text() : "";
  switch (phase.size() == 1 ? phase[0] : '\0') {
    case 'X':
      if (!event.has(Field::name) || !event.has(Field::timestamp)) return RowKind::incomplete;
      return is_memory_with_length(event) ? RowKind::memory : RowKind::range;
    case 'i':
    case 'I':
      return is_named_memory(event) ? RowKind::memory : RowKind::instant;
    case 's':
    case 'f':
      return RowKind::flow;
    case 't':
      return RowKind::instant;
    case 'M':
      return RowKind::label;
    default:
      return phase.empty() ? RowKind::incomplete : RowKind::unsupported;
  }
}

FlowEnd::Type flow_type(std::string_view category) {
  if (category == "fwdbwd" || category == "forward_backward")
    return FlowEnd::Type::forward_backward;
  if (category == "ac2g" || category.starts_with("async") || category.starts_with("cpu_to_")) {
    return FlowEnd::Type::launch;
  }
  return FlowEnd::Type::other;
}

std::optional<std::int64_t> time_of(const RawEvent& event, Field field) {
  if (!event.has(field)) return std::nullopt;
  const std::optional<std::int64_t> time = parse_padded_microseconds(event[field].text());
  if (!time || *time <= -kFarthest || *time >= kFarthest) return std::nullopt;
  return time;
}

bool is_given(const RawEvent& event, Field field) {
  return event.has(field) && event[field].text() != "null";
}

std::optional<RangeTimes> range_times(const RawEvent& event) {
  const std::optional<std::int64_t> start = time_of(event, Field::timestamp);
  std::optional<std::int64_t> duration = 0;
  if (is_given(event, Field::duration)) duration = time_of(event, Field::duration);
  const bool negative = duration && *duration < 0;
  if (negative) duration = 0;
  if (!start || !duration || *duration >= kFarthest - *start) return std::nullopt;
  return RangeTimes{*start, *duration, negative};
}

}  // namespace tbtrace::readers
