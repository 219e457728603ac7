// The tables that a partial has of each source by itself: those that are `by_source`.
// Files have their columns, so new columns of a table need a new version of the file
// (wire/partial_frame.h) and a rule for those of the old.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/checks.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace tbtrace::partials {

struct SourceTable {
  const TableDescription* table;
  std::string_view name;  ///< `gpu.streams`
  OptionValues options;   ///< complete
  /// Of a trace without events: its columns, and how totals are joined, which files do not have.
  AnalysisReport empty;

  Result<AnalysisReport> make(const Trace& trace) const;
};

/// In the order of files: tables that were added later come last, so that older files are read.
const std::vector<SourceTable>& source_tables();

/// Its place in source_tables(), which has it.
std::size_t source_table_named(std::string_view name);

struct SourceContent;

/// What the checks found in a source; nullopt if its partial was made without reports.
std::optional<std::vector<CheckFinding>> checks_of(const SourceContent& source);

}  // namespace tbtrace::partials
