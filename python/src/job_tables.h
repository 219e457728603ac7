// Tables of a set of traces that are made of all of them together.
#pragma once

#include <optional>
#include <string>

#include <tbtrace/tables.h>

#include "python_table.h"
#include "python_trace.h"

namespace tbtrace::python {

/// nullopt if each trace of the set has its own rows; then `note` may say why.
std::optional<PythonTable> job_table(const PythonTraceSet& set, const TableDescription& table,
                                     const OptionValues& options, std::string& note);

}  // namespace tbtrace::python
