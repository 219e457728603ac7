// An event list as a table, with the column names that scripts rely on, row by row.
// Refers to its arguments, which must outlive it. One thread at a time.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/operators.h>

#include "analyses/operators/event_rows.h"
#include "io/text_sink.h"
#include "report/row_order.h"
#include "report/table_rows.h"

namespace tbtrace::writers {

class EventTable final : public report::TableRows {
 public:
  EventTable(analyses::EventSource& events, const report::RowOrder& order,
             const TableOptions& options);

  const std::vector<std::string>& columns() const override { return columns_; }
  const std::vector<Cell>* next() override;
  void rewind() override { shown_.rewind(); }

 private:
  analyses::EventSource& events_;
  report::ShownRows shown_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;  // of the last row; their memory is reused
};

/// Writes the table in a format; a failed write ends it early. `source` follows the rows in JSON.
void write_event_table(analyses::EventSource& events, const report::RowOrder& order,
                       const SourceReport& source, TableFormat format, const TableOptions& options,
                       io::TextSink& out);

}  // namespace tbtrace::writers
