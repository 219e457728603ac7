// Instants and values of counters, which a timeline shows.
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "base/utf8.h"
#include "readers/chrome/rows.h"
#include "wire/json_tree.h"

namespace tbtrace::readers {
namespace {

/// A number, or a text that holds one, `"NaN"` too.
std::optional<double> number_of(const wire::JsonTree& value) {
  using Kind = wire::JsonTree::Kind;
  if (value.kind == Kind::integer) return static_cast<double>(value.integer);
  if (value.kind == Kind::real) return value.real;
  if (value.kind != Kind::text) return std::nullopt;
  double number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [after, error] = std::from_chars(value.text.data(), end, number);
  const bool is_number = error == std::errc() && after == end;
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

/// Without a name or a time it could not be shown.
void ChromeRows::add_instant(const RawEvent& event, std::uint64_t offset) {
  std::int64_t at;
  if (!RowTables::is_given(event, EventField::name)) return;
  if (!read_time(event, EventField::timestamp, at)) return;
  Instant& instant = batch_.instants.emplace_back();
  instant.time_ns = at;
  instant.process = tables_.process(event, offset);
  instant.thread = tables_.thread(event, offset);
  instant.name = tables_.text(event[EventField::name], offset);
  if (RowTables::is_given(event, EventField::arguments)) {
    instant.arguments = tables_.json(event[EventField::arguments], offset);
  }
}

void ChromeRows::add_counter(const RawEvent& event, std::uint64_t offset) {
  if (!read_counter(event, offset)) issues_.add(IssueId::counter_unreadable, offset);
}

/// False if anything of it is left out.
bool ChromeRows::read_counter(const RawEvent& event, std::uint64_t offset) {
  CounterValue value;
  if (!RowTables::is_given(event, EventField::name)) return false;
  if (!RowTables::is_given(event, EventField::arguments)) return false;
  if (!read_time(event, EventField::timestamp, value.time_ns)) return false;
  const std::string_view text = event[EventField::arguments].text();
  const std::optional<wire::JsonTree> arguments =
      wire::parse_json_tree(tables_.canonical(is_utf8(text) ? std::string(text) : to_utf8(text)));
  if (!arguments || arguments->members.empty()) return false;
  value.process = tables_.process(event, offset);
  value.name = tables_.text(event[EventField::name], offset);
  if (RowTables::is_given(event, EventField::flow_id)) {
    // Counters of one name are told apart by it.
    std::string name(batch_.texts[static_cast<std::uint32_t>(value.name)]);
    const StringId id = tables_.text(event[EventField::flow_id], offset);
    name += "[" + std::string(batch_.texts[static_cast<std::uint32_t>(id)]) + "]";
    value.name = tables_.text(name);
  }
  bool is_whole = true;
  for (const auto& [series, json] : arguments->members) {
    if (json.kind == wire::JsonTree::Kind::null) continue;
    const std::optional<double> number = number_of(json);
    if (!number) is_whole = false;
    if (!number || !std::isfinite(*number)) continue;  // a loss may be "NaN": no height says it
    value.value = *number;
    value.series = tables_.text(series);
    batch_.counter_values.push_back(value);
  }
  return is_whole;
}

}  // namespace tbtrace::readers
