#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <proto/partial.pb.h>

#include "partials/canonical.h"
#include "partials/message.h"
#include "partials/message_parts.h"
#include "partials/stack_tables.h"

namespace tbtrace::partials {
namespace {

/// A figure is one number of 64 bits wherever that is enough for the whole column.
void put_figures(proto::PartialFigures& column, const SumTable& table, std::size_t figure,
                 const std::vector<std::uint32_t>& rows) {
  bool any_known = false;
  bool any_value = false;
  bool any_high = false;
  for (const std::uint32_t row : rows) {
    const Figure& value = table.figures(row)[figure];
    any_known = any_known || value.is_known();
    any_value = any_value || value.value() != 0;
    any_high = any_high || value.value() != value.whole();
  }
  if (!any_known) {
    column.set_all_unknown(true);
    return;
  }
  std::uint32_t last_unknown = 0;
  for (std::uint32_t place = 0; place < rows.size(); ++place) {
    const Figure& value = table.figures(rows[place])[figure];
    if (!value.is_known()) {
      column.add_unknown(place - last_unknown);
      last_unknown = place;
    }
    if (!any_value) continue;
    column.add_low(static_cast<std::int64_t>(value.value()));
    if (any_high) column.add_high(static_cast<std::int64_t>(value.value() >> 64));
  }
}

void put_durations(proto::PartialDurations& message, const SumTable& table,
                   const std::vector<std::uint32_t>& rows) {
  for (const std::uint32_t row : rows) {
    const auto counts = table.durations(row).counts();
    message.add_buckets(static_cast<std::uint32_t>(counts.size()));
    std::uint32_t before = 0;
    for (const auto& [bucket, durations] : counts) {
      message.add_steps(bucket - before);
      message.add_counts(durations);
      before = bucket;
    }
  }
}

void put_table(proto::PartialTable& message, const SumTable& table,
               const std::vector<std::uint32_t>& rows, const CanonicalOrder& order) {
  const TableShape& shape = table.shape();
  message.set_name(std::string(shape.name));
  for (std::size_t part = 0; part < shape.keys.size(); ++part) {
    proto::PartialKeys& column = *message.add_keys();
    for (const std::uint32_t row : rows)
      column.add_texts(order.place_of_text[table.key(row)[part]]);
  }
  for (std::size_t figure = 0; figure < shape.figures.size(); ++figure) {
    put_figures(*message.add_figures(), table, figure, rows);
  }
  if (shape.has_durations) put_durations(*message.mutable_durations(), table, rows);
}

void put_stacks(proto::PartialStacks& message, const Content& content,
                const CanonicalOrder& order) {
  const std::span<const StackSums::Node> nodes = content.stacks.nodes();
  std::vector<std::uint32_t> depths(nodes.size(), 0);
  StackSums::Weights any = {};
  for (std::size_t node = 1; node < nodes.size(); ++node) {
    depths[node] = depths[nodes[node].parent] + 1;
  }
  for (const StackSums::Node& node : nodes) {
    for (std::size_t weight = 0; weight < kWeightCount; ++weight) any[weight] |= node.self[weight];
  }
  for (const std::uint32_t node : sorted_nodes(content)) {
    message.add_depths(depths[node]);
    message.add_frames(order.place_of_text[nodes[node].frame]);
    const StackSums::Weights& self = nodes[node].self;
    if (any[0] != 0) message.add_self_cpu_time_ns(self[0]);
    if (any[1] != 0) message.add_self_device_time_ns(self[1]);
    if (any[2] != 0) message.add_cpu_memory_bytes(self[2]);
  }
}

void put_cell(proto::PartialCell& message, const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) message.set_flag(*flag);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) message.set_whole(*whole);
  if (const auto* count = std::get_if<std::uint64_t>(&cell)) message.set_count(*count);
  if (const auto* real = std::get_if<double>(&cell)) message.set_real(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) message.set_text(*text);
  if (const auto* json = std::get_if<Json>(&cell)) message.set_json(json->text);
  if (const auto* list = std::get_if<std::vector<std::string>>(&cell)) {
    proto::PartialTexts& texts = *message.mutable_list();
    for (const std::string& text : *list) texts.add_texts(text);
  }
}

void put_report(proto::PartialReport& message, const AnalysisReport& report) {
  message.set_schema(report.schema);
  for (const std::string& column : report.table.columns) message.add_columns(column);
  for (const std::string& column : report.shown) message.add_shown(column);
  for (const std::vector<Cell>& row : report.table.rows) {
    proto::PartialRow& cells = *message.add_rows();
    for (const Cell& cell : row) put_cell(*cells.add_cells(), cell);
  }
  for (const auto& [name, cell] : report.totals) {
    message.add_total_names(name);
    put_cell(*message.mutable_totals()->add_cells(), cell);
  }
  message.set_totals_label(report.totals_label);
  for (const std::string& note : report.notes) message.add_notes(note);
}

void put_links(proto::PartialLinks& message, const LinkReport& links) {
  message.set_external_ids_valid(links.external_ids_valid);
  message.set_launch_by_correlation(links.launch_by_correlation);
  message.set_launch_by_flow(links.launch_by_flow);
  message.set_launch_unknown(links.launch_unknown);
  message.set_operator_by_flow(links.operator_by_flow);
  message.set_operator_by_external_id(links.operator_by_external_id);
  message.set_operator_by_containment(links.operator_by_containment);
  message.set_operator_unknown(links.operator_unknown);
  message.set_work_over_operator_limit(links.work_over_operator_limit);
  message.set_linked_ns(links.linked_ns);
  message.set_unlinked_ns(links.unlinked_ns);
}

void put_source(proto::PartialSource& message, const PartialSource& source,
                const SourceContent& content) {
  message.set_digest(source.digest);
  message.set_name(source.name);
  if (source.rank) message.set_rank(*source.rank);
  message.set_host(source.host);
  message.set_process(source.process);
  for (const auto& [id, count] : content.report.issues) {
    proto::PartialIssue& issue = *message.add_issues();
    issue.set_id(id);
    issue.set_count(count);
  }
  put_links(*message.mutable_links(), content.report.links);
  for (const AnalysisReport& report : content.reports) put_report(*message.add_reports(), report);
  if (source.world_size) message.set_world_size(*source.world_size);
  message.set_backend(source.backend);
  if (source.start_ns) message.set_start_ns(*source.start_ns);
  if (source.base_time_ns) message.set_base_time_ns(*source.base_time_ns);
  if (source.events) message.set_events(*source.events);
  for (const auto& [of, version] : source.versions) {
    proto::PartialVersion& one = *message.add_versions();
    one.set_of(of);
    one.set_version(version);
  }
  if (content.rank) put_rank(*message.mutable_rank_record(), *content.rank);
}

}  // namespace

Status can_write_partials() { return {}; }

std::string message_of(const Content& content) {
  const CanonicalOrder order = canonical_order(content);
  proto::Partial message;
  message.set_group_by_stack_n(content.options.group_by_stack_n);
  message.set_stack_source(static_cast<std::uint32_t>(content.options.stack_source));
  std::uint32_t parts = 0;
  for (unsigned part = 0; part < kPartCount; ++part) {
    if (content.options.parts.*kParts[part]) parts |= 1U << part;
  }
  message.set_parts(parts);
  message.set_operator_groupings(content.operator_groupings);
  for (const std::uint32_t text : order.texts) message.add_texts(std::string(content.texts[text]));
  for (std::size_t source = 0; source < content.sources.size(); ++source) {
    put_source(*message.add_sources(), content.sources[source], content.of_sources[source]);
  }
  for (std::size_t table = 0; table < kTables; ++table) {
    if (content.tables[table].size() == 0) continue;
    put_table(*message.add_tables(), content.tables[table], order.rows[table], order);
  }
  put_stacks(*message.mutable_stacks(), content, order);
  return message.SerializeAsString();
}

}  // namespace tbtrace::partials
