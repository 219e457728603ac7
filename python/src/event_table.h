// The events of a trace as a table: what each is, where and when it ran, and which events it
// belongs to. Durations are those of the trace itself, without a copy. Immutable: any
// thread may read one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

#include "table.h"

namespace tbtrace::python {

inline constexpr std::string_view kEventsSchema = "tbtrace.events/1";

/// The names of the arguments that can be columns.
std::vector<std::string_view> event_arguments();

/// The type of a column of events, or of an argument as a column; `text` for an unknown name.
ValueType event_column_type(std::string_view name);

/// The table with these columns, all if there are none, and then with arguments of the events, each
/// once. Fails for a column or an argument that there is not, and for one that was not read.
Result<std::shared_ptr<const TableData>> event_table(
    std::shared_ptr<const Trace> trace, const std::vector<std::string>& columns,
    const std::vector<std::string>& argument_names = {});

}  // namespace tbtrace::python
