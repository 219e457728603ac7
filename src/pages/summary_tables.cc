#include "pages/summary_tables.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "wire/json_emitter.h"
#include "writers/summary/entries.h"
#include "writers/tables/cell_json.h"

namespace tbtrace {
namespace {

Cell list_cell(const writers::InnerList& list) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_array();
  for (const std::vector<writers::InnerMember>& entry : list) {
    json.begin_object();
    for (const auto& [name, value] : entry) {
      json.key(name);
      writers::emit_cell(json, value);
    }
    json.end_object();
  }
  json.end_array();
  return Json{std::move(text)};
}

Cell cell_of(const writers::SummaryMember& member) {
  const auto* const list = std::get_if<writers::InnerList>(&member.value);
  return list == nullptr ? std::get<Cell>(member.value) : list_cell(*list);
}

Table table_of(const writers::SummaryPart& part) {
  Table table;
  for (const writers::SummaryEntry& entry : part.entries) {
    for (const writers::SummaryMember& member : entry.members) {
      if (std::ranges::find(table.columns, member.name) != table.columns.end()) continue;
      table.columns.push_back(member.name);
    }
  }
  for (const writers::SummaryEntry& entry : part.entries) {
    std::vector<Cell>& row = table.rows.emplace_back(table.columns.size());
    for (const writers::SummaryMember& member : entry.members) {
      const auto column = std::ranges::find(table.columns, member.name) - table.columns.begin();
      row[static_cast<std::size_t>(column)] = cell_of(member);
    }
  }
  return table;
}

}  // namespace

std::vector<pages::TableContent> pages::summary_tables(const TraceSummary& summary) {
  std::vector<TableContent> tables;
  for (const writers::SummaryPart& part : writers::summary_entries({summary})) {
    if (part.entries.empty()) continue;
    TableContent content{.name = part.name, .title = part.name, .command = {}, .report = {}};
    content.report.table = table_of(part);
    content.report.shown = content.report.table.columns;
    tables.push_back(std::move(content));
  }
  return tables;
}

}  // namespace tbtrace
