// The tables that there are, by name.
// Constants and pure functions; results own all their data.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/table_description.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// In the order in which people see them.
std::span<const TableDescription* const> tables();

/// nullptr if there is none of this name.
const TableDescription* table_named(std::string_view name);

/// The options with the defaults of those that are missing. Fails for an option that the table does
/// not have, for a wrong value, and for options that exclude each other.
Result<OptionValues> complete_options(const TableDescription& table, const OptionValues& given);

/// The figures that options choose; those of the table itself if they choose none.
Figures chosen_figures(const TableDescription& table, const OptionValues& options);

/// The arguments to read for a table in chosen figures.
ArgumentSet arguments_for(const TableDescription& table, const OptionValues& options);

/// Makes the table of a trace. Fails as complete_options() does, if the trace was read without
/// arguments that the table needs, and as the table's own function does.
Result<AnalysisReport> make_table(const TableDescription& table, const Trace& trace,
                                  const OptionValues& options = {});
/// The same by name; fails if there is no such table.
Result<AnalysisReport> make_table(std::string_view name, const Trace& trace,
                                  const OptionValues& options = {});

/// Why a table has no rows, for people: what is missing in the trace, and how to get it. Without a
/// trace, as of a partial, how to get what is missing.
std::string why_no_rows(const TableDescription& table, const OptionValues& options,
                        const Trace* trace);

}  // namespace tbtrace
