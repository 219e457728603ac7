// The text that torch.profiler prints for a summary or an event list, byte for byte.
// A failed write ends it early; the sink keeps the failure.
// Source: torch/autograd/profiler_util.py (_build_table), version 2.13.
#pragma once

#include <string_view>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "io/text_sink.h"
#include "report/row_order.h"
#include "report/row_source.h"

namespace tbtrace::writers {

/// Fails if there is no such unit; the empty unit means that each value gets a suitable one.
Status check_time_unit(std::string_view unit);

/// `order`: of all rows; sums are computed in it. The unit in the options must exist. Reads the
/// rows three times: for the column widths, for the sums, and for printing.
void write_torch_table(report::RowSource& rows, const report::RowOrder& order,
                       const TableOptions& options, io::TextSink& out);

}  // namespace tbtrace::writers
