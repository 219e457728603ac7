// The columns that reports by module and by line have in common.
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/modules.h>
#include <tbtrace/report.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// The totals that CostColumns::totals() gives, and after them those in a text (columns_in()).
std::vector<ColumnDescription> with_cost_totals(std::string_view more);

/// What a trace lacks leaves cells without a value, or columns that nobody needs to see.
struct CostColumns {
  bool has_shapes = false;
  bool has_device = false;
  bool has_memory = false;

  static CostColumns of(const Trace& trace, bool has_shapes, const ModuleCost& total);

  /// Adds those that people see.
  void show(AnalysisReport& report) const;
  /// The cells of a row, in the order of the columns.
  void add_cells(std::vector<Cell>& row, const ModuleCost& cost) const;
  AnalysisReport::Totals totals(const ModuleCost& total) const;
};

/// The total `waiting_cpu_time_ns`, and what it is.
void add_waiting(AnalysisReport& report, std::int64_t waiting_ns);

}  // namespace tbtrace::analyses
