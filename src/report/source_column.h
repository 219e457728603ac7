// The text of lines as a column of a report.
#pragma once

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>

#include "io/source_lines.h"

namespace tbtrace::report {

/// Adds the column `source` to rows with a `file` and a `line`; a note names the files that are not
/// there.
void add_source_column(AnalysisReport& report, io::SourceLines& lines);

/// The same if the option `source_root` is given. Fails if it is not a directory, and as `report`
/// did.
Result<AnalysisReport> with_source(Result<AnalysisReport> report, const OptionValues& options);

}  // namespace tbtrace::report
