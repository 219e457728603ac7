// The text that torch.profiler prints for a summary or an event list, byte for byte.
// Pure function; the result owns its text.
// Source: torch/autograd/profiler_util.py (_build_table), version 2.13.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

namespace tbtrace::writers {

/// `order`: all rows as they are to be shown; sums run in it. Fails for a `time_unit` that does not
/// exist.
Result<std::string> torch_table(const OperatorRows& rows, std::span<const std::size_t> order,
                                const TableOptions& options);

}  // namespace tbtrace::writers
