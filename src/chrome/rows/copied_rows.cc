#include "chrome/rows/copied_rows.h"

#include <cstddef>

#include "chrome/rows/member_json.h"
#include "wire/json_text.h"

namespace tbtrace::chrome {

std::unique_ptr<readers::BlockSink> CopyDocument::make() {
  return std::make_unique<CopiedRows>(trace(), *this);
}

void CopyDocument::write_start(std::string& json) {
  json += "{\n";
  Changes changes;
  for (const auto& [key, value] : trace().metadata()) {
    if (key == "traceEvents" || key == receipt_.key) continue;
    if (write_member(json, key, value, changes)) json += ",\n";
  }
  count(changes);
  json += "\"traceEvents\": [\n";
}

void CopyDocument::write_end(std::string& json) {
  if (json.ends_with(",\n")) json.resize(json.size() - 2);
  json += "\n],\n";
  wire::append_json_string(json, receipt_.key);
  json += ": ";
  json += receipt_.json();
  json += "}\n";
}

bool CopyDocument::write_member(std::string& json, std::string_view key, std::string_view value,
                                Changes& changes) {
  append_metadata(json, key, value, changes);
  return true;
}

void CopiedRows::add(const EventBatch& rows) {
  if (!take_ranges(trace_, rows.ranges.size())) return;
  std::size_t members = 0;
  std::size_t arguments = 0;
  for (const EventBatch::Row& row : rows.rows) {
    copy({.kind = row.kind,
          .range = row.kind == RowKind::range ? range_id(row.number) : EventId::none,
          .members = Members(rows.members).subspan(members, row.members_end - members),
          .arguments = Members(rows.arguments).subspan(arguments, row.arguments_end - arguments)});
    members = row.members_end;
    arguments = row.arguments_end;
  }
  document_.count_rows(rows.rows.size());
}

/// Members in the file's order; of a key that is repeated, the last.
void CopiedRows::copy(const CopiedRow& row) {
  std::string& json = text();
  begin_row(row);
  json += '{';
  repeated_members_.find(row.members);
  for (std::size_t at = 0; at < row.members.size(); ++at) {
    const RowMember& member = row.members[at];
    if (repeated_members_.comes_again(at)) {
      ++changes()["repeated_members_left_out"];
      continue;
    }
    count(member);
    if (member.field == EventField::arguments && member.json.empty()) {
      append_key(json, member);
      copy_arguments(row.arguments);
    } else if (!write_member(member)) {
      continue;
    }
    json += ',';
  }
  json.back() = '}';  // a row has a phase
  json += ",\n";
}

void CopiedRows::copy_arguments(Members arguments) {
  std::string& json = text();
  json += '{';
  const std::size_t start = json.size();
  repeated_arguments_.find(arguments);
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const RowMember& member = arguments[at];
    if (repeated_arguments_.comes_again(at)) {
      ++changes()["repeated_members_left_out"];
      continue;
    }
    if (is_calculated_with(member.argument) && is_lost_number(member.json)) {
      ++changes()["values_left_out"];
      continue;
    }
    count(member);
    const std::size_t before = json.size();
    if (before > start) json += ',';
    if (!write_argument(member)) json.resize(before);
  }
  json += '}';
}

void CopiedRows::count(const RowMember& member) {
  if (member.is_escaped) ++changes()["texts_escaped"];
  if (member.is_repaired) ++changes()["texts_repaired"];
}

bool CopiedRows::write_member(const RowMember& member) {
  append_key(text(), member);
  append_value(text(), member.json, changes());
  return true;
}

bool CopiedRows::write_argument(const RowMember& member) { return write_member(member); }

}  // namespace tbtrace::chrome
