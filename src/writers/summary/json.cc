// `tbtrace.summary/1`; docs/formats/summary.md describes it.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tbtrace/summary.h>

#include "report/optional_cell.h"
#include "report/source_report.h"
#include "wire/json_emitter.h"
#include "writers/summary/entries.h"
#include "writers/tables/cell_json.h"
#include "writers/tables/json_members.h"

namespace tbtrace {
namespace {

void emit_member(wire::JsonEmitter& json, std::string_view name, const Cell& value) {
  json.key(name);
  writers::emit_cell(json, value);
}

void emit_list(wire::JsonEmitter& json, std::string_view name, const writers::InnerList& list) {
  json.key(name);
  json.begin_array();
  for (const std::vector<writers::InnerMember>& entry : list) {
    json.begin_object();
    for (const auto& [member, value] : entry) emit_member(json, member, value);
    json.end_object();
  }
  json.end_array();
}

void emit_entry(wire::JsonEmitter& json, const writers::SummaryEntry& entry) {
  json.new_line();
  json.begin_object();
  emit_member(json, "trace", static_cast<std::uint64_t>(entry.trace));
  emit_member(json, "rank", report::optional_cell(entry.rank));
  for (const writers::SummaryMember& member : entry.members) {
    if (const auto* list = std::get_if<writers::InnerList>(&member.value)) {
      emit_list(json, member.name, *list);
    } else {
      emit_member(json, member.name, std::get<Cell>(member.value));
    }
  }
  json.end_object();
}

}  // namespace

std::string summary_json(const std::vector<TraceSummary>& summaries,
                         const std::optional<StragglerResult>& stragglers) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  emit_member(json, "schema", std::string("tbtrace.summary/1"));
  for (const writers::SummaryPart& part : writers::summary_entries(summaries)) {
    json.new_line();
    json.key(part.name);
    json.begin_array();
    for (const writers::SummaryEntry& entry : part.entries) emit_entry(json, entry);
    json.end_array();
  }
  if (stragglers) {
    json.new_line();
    json.key("stragglers");
    json.raw(stragglers_json(stragglers->stragglers));
    json.new_line();
    emit_member(json, "compared_steps", static_cast<std::uint64_t>(stragglers->compared_steps));
    json.new_line();
    emit_member(json, "why_not_compared", report::text_cell(stragglers->why_not_compared));
    json.new_line();
    emit_member(json, "least_share",
                stragglers->why_not_compared.empty() ? Cell(stragglers->least_share) : Cell());
  }
  SourceReport source;
  for (const TraceSummary& summary : summaries) report::add_source(source, summary.source);
  json.new_line();
  json.key("issues");
  json.raw(writers::issues_json(source));
  json.new_line();
  json.end_object();
  return text + "\n";
}

}  // namespace tbtrace
