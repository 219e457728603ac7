#include <algorithm>
#include <iterator>
#include <string>

#include <tbtrace/steps.h>
#include <tbtrace/tables.h>

#include "analyses/compat/compat.h"
#include "report/source_column.h"
#include "report/table_list.h"

namespace tbtrace {

std::span<const TableDescription* const> tables() {
#define TBTRACE_TABLE(name) &analyses::name##_table(),
  static const TableDescription* const kTables[] = {TBTRACE_TABLES(TBTRACE_TABLE)};
#undef TBTRACE_TABLE
  return kTables;
}

const TableDescription* table_named(std::string_view name) {
  const auto found = std::ranges::find(tables(), name, &TableDescription::name);
  return found == tables().end() ? nullptr : *found;
}

const TableDescription* table_of_schema(std::string_view schema) {
#define TBTRACE_TABLE(name) &analyses::name##_table(),
  static const TableDescription* const kAll[] = {TBTRACE_TABLES(TBTRACE_TABLE)
                                                     TBTRACE_OTHER_TABLES(TBTRACE_TABLE)};
#undef TBTRACE_TABLE
  const auto* const found = std::ranges::find(kAll, schema, &TableDescription::schema);
  return found == std::end(kAll) ? nullptr : *found;
}

ArgumentSet arguments_for(const TableDescription& table, const OptionValues& options) {
  if (chosen_figures(table, options) != Figures::exact) {
    return analyses::arguments_of_figures(table.name);
  }
  const ArgumentSet arguments = table.all_arguments();
  return table.arguments_with == nullptr ? arguments : arguments | table.arguments_with(options);
}

Result<AnalysisReport> make_table(const TableDescription& table, const Trace& trace,
                                  const OptionValues& options) {
  if (table.make == nullptr) {
    return Status(StatusCode::invalid_argument,
                  "the table " + std::string(table.name) + " is made by a function of its own");
  }
  const Result<OptionValues> complete = complete_options(table, options);
  if (!complete.ok()) return complete.status();
  const Figures figures = chosen_figures(table, *complete);
  if (figures != Figures::exact) {
    return analyses::table_in_figures(table.name, trace, figures, *complete);
  }
  if (Status read = trace.check_read(table.arguments, table.name); !read.ok()) return read;
  if (table.of_part && complete->steps()) {
    const Result<Trace> part = trace_of_steps(trace, *complete->steps());
    if (!part.ok()) return part.status();
    return report::with_source(table.make(*part, *complete), *complete);
  }
  return report::with_source(table.make(trace, *complete), *complete);
}

Result<AnalysisReport> make_table(std::string_view name, const Trace& trace,
                                  const OptionValues& options) {
  if (const TableDescription* const table = table_named(name)) {
    return make_table(*table, trace, options);
  }
  return Status(StatusCode::invalid_argument, "there is no table '" + std::string(name) + "'");
}

}  // namespace tbtrace
