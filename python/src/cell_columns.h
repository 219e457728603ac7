// The rows of a report as Arrow columns: whole numbers are 64-bit integers, other numbers doubles,
// texts dictionary-encoded, lists lists of texts, JSON texts. Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include <tbtrace/report.h>

#include "arrow_table.h"

namespace tbtrace::python {

/// A column without any value has the type that its name says (`_ns`, `_bytes` and the like are
/// whole numbers, `_percent` and the like doubles, others texts), so that the tables of all ranks
/// have one schema.
ArrowColumn arrow_column(const std::string& schema, const Table& table, std::size_t column);

}  // namespace tbtrace::python
