// The rows of the critical path as a table, of what was recorded or of what would be.
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// What of a critical path is on one recording.
struct PathPart {
  const PathRecording* recording = nullptr;
  std::optional<std::int64_t> rank;
  std::vector<PathPiece> pieces;
  std::span<const std::int64_t> slack_ns;  ///< by point of the recording
  const PathChanges* changes = nullptr;
  std::span<const std::int64_t> waits = {};  ///< PathRows::add()
};

/// How long the paths of parts are together.
std::int64_t path_ns(std::span<const PathPart> parts);

/// Sets the rows of a report, and their totals. `path_ns`: what shares are of.
void set_path_rows(AnalysisReport& report, const PathPart& part, std::int64_t path_ns,
                   std::size_t steps, std::string_view group_by);

/// The same of a recording; none without a path. `group_by` as in the option.
void set_path_rows(AnalysisReport& report, const PathRecording& recording, const CriticalPath* path,
                   std::string_view group_by, const PathChanges& changes = {});

}  // namespace tbtrace::analyses
