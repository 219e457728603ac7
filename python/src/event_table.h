// The events of a trace as a table: what each is, where and when it ran, and which events it
// belongs to. Durations are those of the trace itself, without a copy. Immutable: any
// thread may read one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "table.h"

namespace tbtrace::python {

/// The table with these columns, all if there are none. Fails for an unknown column.
Result<std::shared_ptr<const TableData>> event_table(std::shared_ptr<const Trace> trace,
                                                     const std::vector<std::string>& columns);

}  // namespace tbtrace::python
