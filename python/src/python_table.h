// Tables as Python's objects.
#pragma once

#include <memory>
#include <utility>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

#include "table.h"

namespace tbtrace::python {

struct PythonTable {
  std::shared_ptr<const TableData> data;
};

/// A table that can also print itself as torch does.
struct PythonOperators : PythonTable {
  explicit PythonOperators(OperatorSummary made)
      : PythonOperators(std::make_shared<const SummaryTable>(std::move(made))) {}

  std::shared_ptr<const SummaryTable> summary;

 private:
  explicit PythonOperators(std::shared_ptr<const SummaryTable> table)
      : PythonTable{table}, summary(std::move(table)) {}
};

inline PythonTable python_table(AnalysisReport report) {
  return {std::make_shared<const ReportTable>(std::move(report))};
}

}  // namespace tbtrace::python
