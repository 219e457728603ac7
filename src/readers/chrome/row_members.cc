// All members of a row as JSON text, for who copies them.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "readers/chrome/rows.h"
#include "wire/json_text.h"

namespace tbtrace::readers {

void ChromeRows::add_members(RowKind kind, const RawEvent& event, std::size_t number) {
  const bool is_range = kind == RowKind::range;
  const std::uint32_t fields = is_range ? request_.left_out.range_fields : 0;
  const ArgumentSet arguments = is_range ? request_.left_out.range_arguments : ArgumentSet();
  for (const RawMember& raw : event.members) {
    const bool is_left_out =
        raw.field != EventField::none && (fields & LeftOutMembers::bit(raw.field)) != 0;
    if (!is_left_out) set_member(raw, batch_.members.emplace_back());
  }
  for (const RawMember& raw : event.argument_members) {
    const bool is_left_out = raw.argument != Argument::none && arguments.contains(raw.argument);
    if (!is_left_out) set_member(raw, batch_.arguments.emplace_back());
  }
  batch_.rows.push_back(
      {kind, static_cast<std::uint32_t>(number), batch_.members.size(), batch_.arguments.size()});
}

std::string_view ChromeRows::kept(std::string text) {
  return *kept_.emplace_back(std::make_unique<std::string>(std::move(text)));
}

/// In place: a copy of what was just written field by field would wait for each of them.
void ChromeRows::set_member(const RawMember& raw, RowMember& member) {
  const TextRules& rules = tables_.rules();
  member.field = raw.field;
  member.argument = raw.argument;
  member.is_plain = is_plain(raw.key, rules);
  member.key = raw.key;
  if (!member.is_plain) {
    const Token key = {raw.key.data(), static_cast<std::uint32_t>(raw.key.size()),
                       Token::Type::string};
    const DecodedText decoded = decode(key, rules, scratch_);
    member.is_repaired = decoded.invalid_utf8;
    member.is_escaped = decoded.unescaped;
    member.key = kept(std::string(decoded.text));
  }
  const Token& value = raw.value;
  if (!value.is_string()) {
    member.json = value.text();
  } else if (is_plain(value.text(), rules)) {
    member.json = {value.data - 1, std::size_t{value.size} + 2};  // with its quotes
  } else {
    std::string json;
    const DecodedText decoded = decode(value, rules, scratch_);
    member.is_repaired |= decoded.invalid_utf8;
    member.is_escaped |= decoded.unescaped;
    wire::append_json_string(json, decoded.text);
    member.json = kept(std::move(json));
  }
}

}  // namespace tbtrace::readers
