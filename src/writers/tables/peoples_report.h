// What people see of a report, whatever it is printed as: which rows and columns, which totals in
// the last line and which below it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/report.h>

#include "writers/tables/report_table.h"

namespace tbtrace::writers {

struct PeoplesReport {
  Table rows;  ///< names of trees are indented, paths of inputs are cut to what tells them apart
  std::vector<std::string> columns;  ///< of them, also those without a value
  TotalsLine line;                   ///< without cells: there is none
  AnalysisReport::Totals totals;     ///< that are in no column
  std::size_t hidden_rows = 0;
  std::size_t hidden_columns = 0;  ///< that have a value
};

/// `rows`: those of the report that are shown.
PeoplesReport peoples_report(const AnalysisReport& report, Table rows,
                             const ReportOptions& options);

}  // namespace tbtrace::writers
