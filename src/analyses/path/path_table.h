// The rows of the critical path as a table, of what was recorded or of what would be.
// Pure functions.
#pragma once

#include <string_view>
#include <vector>

#include <tbtrace/tables.h>

#include "analyses/path/changes.h"
#include "analyses/path/critical_path.h"
#include "analyses/path/recording.h"

namespace tbtrace::analyses {

std::vector<ColumnDescription> path_columns();
std::vector<ColumnDescription> path_totals();

/// The option `group_by`, which both tables have.
OptionDescription path_grouping_option();

/// Sets the rows of a report, and their totals; none without a path. `group_by` as in the option.
void set_path_rows(AnalysisReport& report, const PathRecording& recording, const CriticalPath* path,
                   std::string_view group_by, const PathChanges& changes = {});

}  // namespace tbtrace::analyses
