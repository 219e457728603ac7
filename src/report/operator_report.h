// Rows of a summary as a neutral table, with the column names that scripts rely on.
// The table owns its texts.
#pragma once

#include <tbtrace/report.h>

#include "report/row_order.h"
#include "report/row_source.h"

namespace tbtrace::report {

/// The rows that a table with `options` shows, in `order`.
Table operator_table(RowSource& rows, const RowOrder& order, const TableOptions& options);

/// A list in JSON: the text itself, or `[]`.
Json shapes_cell(const OperatorRow& row);

}  // namespace tbtrace::report
