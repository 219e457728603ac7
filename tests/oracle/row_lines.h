// The rows of a Trace as JSON lines, one canonical text for each row, to be compared with what
// expected.py makes of the same file.
// The order: the base time, the members by key, the names of threads by process and thread; then
// ranges, memory records and flow events as the Trace holds them.
#pragma once

#include <functional>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::oracle {

/// Takes one row: its kind ("range", "memory", ...) and its line without the line break.
using TakeRow = std::function<void(std::string_view kind, std::string_view line)>;

void for_each_row(const Trace& trace, const TakeRow& take);

}  // namespace tbtrace::oracle
