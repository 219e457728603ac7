#include "partials/source_reports.h"

#include <algorithm>
#include <utility>

#include <tbtrace/tables.h>

#include "trace/trace_builder.h"

namespace tbtrace::partials {
namespace {

std::vector<SourceTable> make_tables() {
  const Trace empty = std::move(TraceBuilder()).finish();
  std::vector<SourceTable> made;
  for (const TableDescription* const table : tables()) {
    if (table->in_partials != InPartials::by_source) continue;
    std::vector<KeptRows> kept = table->kept;
    if (kept.empty()) kept.push_back({table->name, {}});
    for (const KeptRows& rows : kept) {
      made.push_back({table, rows.name, *complete_options(*table, rows.options),
                      *make_table(*table, empty, rows.options)});
    }
  }
  return made;
}

}  // namespace

const std::vector<SourceTable>& source_tables() {
  static const std::vector<SourceTable> kSourceTables = make_tables();
  return kSourceTables;
}

std::size_t source_table_named(std::string_view name) {
  const auto found = std::ranges::find(source_tables(), name, &SourceTable::name);
  return static_cast<std::size_t>(found - source_tables().begin());
}

}  // namespace tbtrace::partials
