// Rows of a summary as a neutral table, under the names that scripts rely on.
// Pure functions; the table owns its texts.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::report {

/// `order`: the rows to take, in their order.
Table operator_table(std::span<const OperatorRow> rows, std::span<const std::size_t> order);

/// `order` without what a table of `options` does not show: rows beyond the limit, rows with a
/// parent where only the outermost are wanted.
std::vector<std::size_t> shown_rows(std::span<const OperatorRow> rows,
                                    std::vector<std::size_t> order, const TableOptions& options);

/// A list in JSON: the text itself, or `[]`.
Json shapes_cell(const OperatorRow& row);

}  // namespace tbtrace::report
