#include "chrome/rows/member_json.h"

#include "chrome/rows/short_text.h"
#include "wire/json_strict.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {
namespace {

constexpr ArgumentSet kNumbers = {
    Argument::blocks_per_sm, Argument::warps_per_sm,   Argument::registers_per_thread,
    Argument::occupancy,     Argument::shared_memory,  Argument::total_allocated,
    Argument::address,       Argument::total_reserved, Argument::stream,
};

bool is_literal(std::string_view text) {
  return text == "true" || text == "false" || text == "null";
}

bool is_copied(std::string_view value) {
  return value.starts_with('"') || wire::is_json_number(value) || is_literal(value);
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

/// In one piece, which is cheaper than one by one.
void append_copied(std::string& json, const RowMember& member, std::string_view value) {
  constexpr std::size_t kMost = 128;
  if (!member.is_plain || member.key.size() + value.size() > kMost) {
    append_key(json, member);
    json += value;
    return;
  }
  chrome::ShortText<kMost + 3> text;
  text.put('"');
  text.put(member.key);
  text.put("\":");
  text.put(value);
  json += text.view();
}

void append_value(std::string& json, std::string_view value, Changes& changes) {
  if (is_copied(value)) {
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
  if (member.is_strict || is_copied(member.json)) {
    append_copied(json, member, member.json);
    return;
  }
  append_key(json, member);
  append_value(json, member.json, changes);
}

void append_metadata(std::string& json, std::string_view key, std::string_view value,
                     Changes& changes) {
  wire::append_json_string(json, key);
  json += ": ";
  if (wire::append_strict_json(json, value, true)) return;
  ++changes["values_quoted"];
  wire::append_json_string(json, value);
}

bool is_lost_number(std::string_view json) {
  return !json.starts_with('{') && !json.starts_with('[') && !is_copied(json);
}

std::string id_text(const EventBatch& rows, const TrackKey& key) {
  return key.text == StringId::empty
             ? key.number_text()
             : std::string(rows.texts[static_cast<std::uint32_t>(key.text)]);
}

}  // namespace tbtrace::chrome
