#include "converters/row_rewriter.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/decimal.h"
#include "base/utf8.h"
#include "trace/input_lists.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::converters {
namespace {

using readers::Field;
using readers::field_bit;
using readers::Member;
using readers::RawEvent;
using readers::RowKind;
using readers::Token;

constexpr std::size_t kFlushAt = std::size_t{256} << 10;

/// Members of a range, and of another row, that RowWriter writes.
constexpr std::uint64_t kRangeMembers = field_bit(Field::phase) | field_bit(Field::category) |
                                        field_bit(Field::name) | field_bit(Field::process) |
                                        field_bit(Field::thread) | field_bit(Field::timestamp) |
                                        field_bit(Field::duration) | field_bit(Field::arguments);
constexpr std::uint64_t kOtherMembers = field_bit(Field::phase) | field_bit(Field::name) |
                                        field_bit(Field::process) | field_bit(Field::thread) |
                                        field_bit(Field::timestamp) | field_bit(Field::arguments);

constexpr std::uint64_t kIds = field_bit(Field::external_id) | field_bit(Field::correlation);
constexpr std::uint64_t kInputs = field_bit(Field::input_dims) | field_bit(Field::input_types);
constexpr std::uint64_t kMemoryArguments =
    field_bit(Field::device_type) | field_bit(Field::device_id) | field_bit(Field::bytes);

/// Consumers reckon with these; text there makes the plugin lose the file.
bool is_reckoned_with(std::string_view key) {
  constexpr std::array<std::string_view, 9> kKeys = {
      "blocks per SM",
      "est. achieved occupancy %",
      "registers per thread",
      "shared memory",
      "Total Allocated",
      "Total Reserved",
      "warps per SM",
      "Addr",
      "stream",
  };
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

bool is_literal(std::string_view text) {
  return text == "true" || text == "false" || text == "null";
}

/// A key that hides one that is written anew behind an escape would come out as a second one.
bool hides_known_key(const Member& member, const readers::TextRules& rules) {
  if (member.field != Field::none || member.key.find('\\') == std::string_view::npos) return false;
  Token token;
  token.data = member.key.data();
  token.size = static_cast<std::uint32_t>(member.key.size());
  token.type = Token::Type::string;
  std::string scratch;
  const std::string_view key = readers::decode(token, rules, scratch).text;
  return readers::field_of(key, readers::kEventKeys) != Field::none ||
         readers::field_of(key, readers::kArgumentKeys) != Field::none || key == "device" ||
         is_reckoned_with(key);
}

/// The types whose sizes the plugin knows.
bool has_known_size(std::string_view type) {
  constexpr std::array<std::string_view, 6> kTypes = {
      "long int", "float", "int", "c10::Half", "c10::BFloat16", "unsigned char"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

}  // namespace

Status changed_while_read() {
  return {StatusCode::unreadable_input,
          "was written to while it was read; convert it when its writer has finished"};
}

RowRewriter::RowRewriter(const Trace& trace, dialects::RowWriter& writer, io::ByteSink& sink)
    : trace_(trace), writer_(writer), sink_(sink) {
  writer_.begin(text_);
  kept_ = text_.size();
}

void RowRewriter::row(RowKind kind, EventId range_event, const RawEvent& event,
                      const readers::TextRules& rules) {
  rules_ = rules;
  if (kind == RowKind::range) {
    ranges_ = index(range_event) + 1;
    other_rows_ = other_rows_ || ranges_ > trace_.events().size();
  }
  if (other_rows_) return;
  members_.clear();
  arguments_.clear();
  switch (kind) {
    case RowKind::range:
      range(range_event, event);
      break;
    case RowKind::memory:
      memory(event);
      break;
    default:
      other(kind, event);
  }
}

void RowRewriter::keep() {
  kept_ = text_.size();
  for (const auto& [id, count] : new_changes_) changes_[id] += count;
  new_changes_.clear();
  if (text_.size() >= kFlushAt) flush();
}

void RowRewriter::drop() {
  text_.resize(kept_);
  new_changes_.clear();
}

/// All but the comma behind the last row, which may be the last one.
void RowRewriter::flush() {
  constexpr std::string_view kComma = ",\n";
  const std::size_t size = text_.size() - (text_.ends_with(kComma) ? kComma.size() : 0);
  if (failure_.ok()) failure_ = sink_.write(std::string_view(text_).substr(0, size));
  text_.erase(0, size);
  kept_ = text_.size();
}

Status RowRewriter::finish() {
  if (other_rows_ || ranges_ != trace_.events().size()) return changed_while_read();
  writer_.end(text_);
  flush();
  return failure_;
}

void RowRewriter::range(EventId event, const RawEvent& raw) {
  const bool is_collective = writer_.dialect() == Dialect::plugin && writer_.is_collective(event);
  add_members(raw, kRangeMembers);
  add_arguments(raw, is_collective ? kIds | kInputs : kIds, writer_.is_device_row(event));
  if (is_collective) add_collective_inputs(raw);
  writer_.range(event, {members_, arguments_, raw.has(Field::call_stack)}, text_);
}

void RowRewriter::memory(const RawEvent& raw) {
  const auto time = readers::time_of(raw, Field::timestamp);
  if (!time) return;  // counted when the model was read
  const auto integer = [&](Field field, std::int64_t absent) {
    return raw.has(field) ? parse_integer(raw[field].text()).value_or(absent) : absent;
  };
  MemoryRecord record;
  record.time_ns = *time;
  record.bytes = integer(Field::bytes, 0);
  const auto small = [](std::int64_t value) {
    return static_cast<std::int16_t>(value >= -0x8000 && value <= 0x7fff ? value : -1);
  };
  record.device_type = small(integer(Field::device_type, 0));
  record.device_id = small(integer(Field::device_id, -1));
  record.out_of_memory = raw[Field::name].text() == "[OutOfMemory]";
  add_members(raw, kOtherMembers | field_bit(Field::category) | field_bit(Field::duration), "s");
  add_arguments(raw, kMemoryArguments);
  writer_.memory(record, place(raw), {members_, arguments_, false}, text_);
}

void RowRewriter::other(RowKind kind, const RawEvent& raw) {
  // Arrows that mean something are made anew; those of other programs are kept.
  const std::string_view category =
      raw.has(Field::category) ? raw[Field::category].text() : std::string_view();
  const bool is_arrow = kind == RowKind::flow || raw[Field::phase].text() == "t";
  if (is_arrow && readers::flow_type(category) != FlowEnd::Type::other) return;
  scratch_ = "\"\"";  // the plugin looks at the name of every row
  if (raw.has(Field::name)) {
    std::string name;
    add_value(name, raw[Field::name]);
    scratch_ = name.starts_with('"') ? name : "\"\"";
  }
  const std::string name = scratch_;
  const std::string_view phase = raw[Field::phase].text();
  std::string phase_json;
  wire::append_json_string(phase_json, to_utf8(phase));
  dialects::RowWriter::row_start(std::string_view(phase_json).substr(1, phase_json.size() - 2),
                                 name, place(raw), text_);
  if (const auto time = readers::time_of(raw, Field::timestamp)) {
    writer_.time(kind == RowKind::label ? std::max(*time, trace_.first_time_ns()) : *time, text_);
  }
  // The plugin takes any row of this category for an end of an arrow.
  const bool misleading = category == "forward_backward";
  add_members(raw, misleading ? kOtherMembers | field_bit(Field::category) : kOtherMembers);
  text_ += members_;
  add_arguments(raw, 0);
  if (!arguments_.empty()) {
    text_ += ",\"args\":{";
    text_ += std::string_view(arguments_).substr(1);
    text_ += '}';
  }
  dialects::RowWriter::row_end(text_);
}

const dialects::Place& RowRewriter::place(const RawEvent& raw) {
  const std::string_view process =
      raw.has(Field::process) ? raw[Field::process].text() : std::string_view("0");
  const std::string_view thread =
      raw.has(Field::thread) ? raw[Field::thread].text() : std::string_view();
  scratch_.assign(process);
  scratch_ += '\0';
  scratch_ += thread;
  const auto known = places_.find(scratch_);
  if (known != places_.end()) return known->second;
  constexpr std::size_t kMostPlaces = 100'000;
  if (places_.size() == kMostPlaces) places_.clear();
  return places_.emplace(scratch_, writer_.places().of_text(process, thread)).first->second;
}

void RowRewriter::add_members(const RawEvent& raw, std::uint64_t written,
                              std::string_view written_key) {
  for (const Member& member : raw.members) {
    if (hides_known_key(member, rules_)) {
      ++new_changes_["values_left_out"];
      continue;
    }
    if (member.field != Field::none && (written & field_bit(member.field)) != 0) continue;
    if (!written_key.empty() && member.key == written_key) continue;
    add_member(members_, member);
  }
}

void RowRewriter::add_arguments(const RawEvent& raw, std::uint64_t written, bool on_device) {
  for (std::size_t at = 0; at < raw.arguments.size(); ++at) {
    const Member& member = raw.arguments[at];
    if (member.field != Field::none && (written & field_bit(member.field)) != 0) continue;
    if (on_device && member.key == "device") continue;
    if (hides_known_key(member, rules_)) {
      ++new_changes_["values_left_out"];
      continue;
    }
    if (raw.has_repeated_key()) {
      const bool comes_again = std::any_of(
          raw.arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, raw.arguments.end(),
          [&](const Member& later) { return later.key == member.key; });
      if (comes_again) continue;
    }
    if ((on_device || written == kMemoryArguments) && is_reckoned_with(member.key)) {
      const std::string_view text = member.value.text();
      if (!wire::is_json_number(text)) {
        if (text != "null") ++new_changes_["values_left_out"];
        continue;
      }
      arguments_ += ",\"";
      arguments_ += member.key;
      arguments_ += "\":";
      arguments_ += text;
      continue;
    }
    add_member(arguments_, member);
  }
}

void RowRewriter::add_member(std::string& json, const Member& member) {
  json += ',';
  Token key;
  key.data = member.key.data();
  key.size = static_cast<std::uint32_t>(member.key.size());
  key.type = Token::Type::string;
  add_value(json, key);
  json += ':';
  add_value(json, member.value);
}

void RowRewriter::add_value(std::string& json, const Token& value) {
  if (value.type == Token::Type::string) {
    if (readers::is_plain(value, rules_)) {
      json += '"';
      json += value.text();
      json += '"';
      return;
    }
    std::string scratch;
    wire::append_json_string(json, readers::decode(value, rules_, scratch).text);
    return;
  }
  if (value.type == Token::Type::scalar) {
    const std::string_view text = value.text();
    if (is_literal(text) || wire::is_json_number(text)) {
      json += text;
      return;
    }
  } else if (wire::append_strict_json(json, value.text(), false)) {
    return;
  }
  ++new_changes_["values_quoted"];
  wire::append_json_string(json, to_utf8(value.text()));
}

/// The plugin multiplies sizes of tensors by those of their types, and drops a run with lists of
/// tensors: what it does not know the size of is left out.
void RowRewriter::add_collective_inputs(const RawEvent& raw) {
  if (!raw.has(Field::input_dims) || !raw.has(Field::input_types)) return;
  const std::vector<InputDims> dims = parse_dims(raw[Field::input_dims].text());
  const std::vector<std::string> types = parse_texts(raw[Field::input_types].text());
  std::string dims_json;
  std::string types_json;
  for (std::size_t at = 0; at < std::min(dims.size(), types.size()); ++at) {
    if (dims[at].is_list || !has_known_size(types[at])) continue;
    const char* const comma = dims_json.empty() ? "" : ",";
    dims_json += comma;
    dims_json += '[';
    for (const std::int64_t size : dims[at].sizes) {
      if (!dims_json.ends_with('[')) dims_json += ',';
      dims_json += std::to_string(size);
    }
    dims_json += ']';
    types_json += comma;
    types_json += '"' + types[at] + '"';
  }
  arguments_ += ",\"Input Dims\":[" + dims_json + "],\"Input type\":[" + types_json + "]";
}

}  // namespace tbtrace::converters
