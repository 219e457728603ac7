#include "pages/kernel_tables.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tbtrace/kernels.h>

#include "analyses/steps/selection.h"
#include "analyses/summary/kernel_origins.h"
#include "report/optional_cell.h"
#include "report/table_columns.h"

namespace tbtrace {
namespace {

/// Four columns, in this order.
const std::vector<ColumnDescription>& origin_columns() {
  static const std::vector<ColumnDescription> kColumns = columns_in(R"(
operator | text or null | the operator that launched most of its time, together with the next three
input_shapes | text or null | of that operator, if they were recorded
source_line | text or null | the innermost line of your own code around it, if stacks were recorded
module | text or null | the module, if modules are known; `*` stands for repeated layers
origin_ns | integer | how much of the time came from there
)");
  return kColumns;
}

}  // namespace

Status pages::add_kernel_origins(const ViewedTrace& viewed, ViewContent& content) {
  const auto table = std::ranges::find(content.tables, "by_name", &TableContent::name);
  if (table == content.tables.end() || table->report.table.rows.empty()) return {};
  Result<KernelSummary> summary = kernel_summary(viewed.trace, {.steps = viewed.steps});
  if (!summary.ok()) return summary.status();
  const std::vector<KernelOrigin> origins = analyses::kernel_origins(
      viewed.trace, summary->groups, *analyses::window_of_steps(viewed.trace, viewed.steps));
  std::map<std::string_view, const KernelOrigin*> by_name;
  for (std::size_t at = 0; at < origins.size(); ++at) {
    by_name[summary->groups[at].name] = &origins[at];
  }
  Table& rows = table->report.table;
  const std::size_t name = *report::column_named(rows, "name");
  for (const ColumnDescription& column : origin_columns()) {
    rows.columns.emplace_back(column.name);
    table->columns.push_back(column);
  }
  for (std::vector<Cell>& row : rows.rows) {
    const auto* const text = std::get_if<std::string>(&row[name]);
    const auto found = text == nullptr ? by_name.end() : by_name.find(*text);
    if (found == by_name.end()) {
      row.resize(rows.columns.size());
      continue;
    }
    const KernelOrigin& origin = *found->second;
    for (const std::string& part : {origin.op, origin.input_shapes, origin.line, origin.module}) {
      row.push_back(report::text_cell(part));
    }
    row.emplace_back(origin.total_ns);
  }
  std::vector<std::string>& shown = table->report.shown;
  const auto after = std::ranges::find(shown, "short_name");
  const std::vector<std::string> first = {"operator", "source_line"};
  shown.insert(after == shown.end() ? after : after + 1, first.begin(), first.end());
  return {};
}

}  // namespace tbtrace
