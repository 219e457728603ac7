// `--name REGEX` and `--kind KIND`: which rows of a table are shown. Totals stay those of all rows.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>

#include "console.h"
#include "option.h"
#include "options.h"

namespace tbtrace::tools {

/// Empty: accepts all.
using NameFilter = std::function<bool(std::string_view name)>;

Option name_option();
/// `--name` and `--kind`, of an operator table.
std::vector<Option> row_choice_options();

/// What `--name` accepts; empty if it was not given. A wrong expression is a failure.
Result<NameFilter> chosen_names(const OptionParser& parser);

/// Sets what the options select. A wrong expression is a failure.
Status take_row_choice(const OptionParser& parser, TableOptions& table);

/// Whether rows of the table have names: a column `name`, `path`, `file`, `operator`, ...
bool has_names(const TableDescription& table);

/// Keeps the rows whose name is accepted. A line of source is `FILE(LINE): FUNCTION`. Rows of a
/// tree are then shown by their paths.
RowCounts keep_named_rows(AnalysisReport& report, const NameFilter& accepts);

/// Says how many rows were selected.
void say_row_counts(const RowCounts& counts, std::string_view subject, Console& console);
/// The same, if `table` selects any.
void say_row_counts(const TableOptions& table, const RowCounts& counts, std::string_view subject,
                    Console& console);

}  // namespace tbtrace::tools
