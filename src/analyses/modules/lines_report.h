// Lines of source as the rows of `tbtrace.lines/1`, wherever they come from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/lines.h>
#include <tbtrace/tables.h>

#include "analyses/modules/cost_columns.h"

namespace tbtrace::analyses {

/// Those with the most device time first, then by CPU time, both without what they called, then by
/// place.
void sort_lines(std::vector<LineRow>& lines);

LinesOptions lines_options(const OptionValues& values);

/// Of the view of costs.
AnalysisReport line_report_of(const LineTable& table, const CostColumns& columns,
                              std::optional<std::int64_t> rank, SourceReport source);

/// The view of memory. Fails as line_memory(), and if addresses were not read.
Result<AnalysisReport> line_memory_report(const Trace& trace, const LinesOptions& options);

}  // namespace tbtrace::analyses
