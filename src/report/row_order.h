// Which rows of a summary are shown, and in which order.
// Pure functions.
// A sort key that does not exist is a failure that lists those that do.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

namespace tbtrace::report {

/// torch's spelling of a key: `cuda`, `xpu` and `privateuse1` in it are `device`.
std::string canonical_key(std::string_view key);

/// Row numbers in the order of `sort_by`, largest first and equal ones as they were; as they are if
/// it is empty.
Result<std::vector<std::size_t>> sorted_rows(std::span<const OperatorRow> rows,
                                             std::string_view sort_by);

/// Whether a row's own device time is part of the sum at the foot: rows of devices are, but not the
/// shadows of annotations, which cover the same time again.
bool counts_as_device_time(const OperatorRows& rows, const OperatorRow& row);

}  // namespace tbtrace::report
