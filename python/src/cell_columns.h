// The rows of a report as Arrow columns: whole numbers are 64-bit integers, other numbers doubles,
// texts dictionary-encoded, lists lists of texts, JSON texts. Thread-safe.
#pragma once

#include <cstddef>

#include <tbtrace/tables.h>

#include "arrow_table.h"

namespace tbtrace::python {

/// `type` is that of the column's description, so that the tables of all ranks have one schema.
/// Throws std::invalid_argument for values of another type.
ArrowColumn arrow_column(ValueType type, const Table& table, std::size_t column);

}  // namespace tbtrace::python
