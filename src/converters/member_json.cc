#include "converters/member_json.h"

#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::converters {
namespace {

constexpr ArgumentSet kNumbers = {
    Argument::blocks_per_sm, Argument::warps_per_sm,   Argument::registers_per_thread,
    Argument::occupancy,     Argument::shared_memory,  Argument::total_allocated,
    Argument::address,       Argument::total_reserved, Argument::stream,
};

bool is_literal(std::string_view text) {
  return text == "true" || text == "false" || text == "null";
}

}  // namespace

bool is_calculated_with(Argument argument) {
  return argument != Argument::none && kNumbers.contains(argument);
}

void append_key(std::string& json, const RowMember& member) {
  if (member.is_plain) {
    json += '"';
    json += member.key;
    json += '"';
  } else {
    wire::append_json_string(json, member.key);
  }
  json += ':';
}

void append_value(std::string& json, std::string_view value, Changes& changes) {
  const bool is_copied = value.starts_with('"') || is_literal(value) || wire::is_json_number(value);
  if (is_copied) {
    json += value;
    return;
  }
  const bool is_nested = value.starts_with('{') || value.starts_with('[');
  bool is_repaired = false;
  if (is_nested && wire::append_strict_json(json, value, false, &is_repaired)) {
    if (is_repaired) ++changes["texts_repaired"];
    return;
  }
  ++changes["values_quoted"];
  wire::append_json_string(json, value);
}

void append_member(std::string& json, const RowMember& member, Changes& changes) {
  if (member.is_repaired) ++changes["texts_repaired"];
  append_key(json, member);
  append_value(json, member.json, changes);
}

std::string id_text(const EventBatch& rows, const TrackKey& key) {
  return key.text == StringId::empty
             ? std::to_string(key.number)
             : std::string(rows.texts[static_cast<std::uint32_t>(key.text)]);
}

}  // namespace tbtrace::converters
