// Implements the event list functions of <tbtrace/operators.h>, in memory and streaming.
#include <ostream>
#include <utility>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

#include "analyses/operators/event_rows.h"
#include "io/text_sink.h"
#include "report/row_order.h"
#include "report/source_report.h"
#include "writers/operators/event_table.h"
#include "writers/tables/write_file.h"

namespace tbtrace {
namespace {

/// Events that are already in memory.
class ListedEvents final : public analyses::EventSource {
 public:
  ListedEvents(std::span<const FunctionEvent> events, const OperatorRows& facts)
      : events_(events), facts_(facts) {}

  const OperatorRows& facts() const override { return facts_; }
  std::size_t size() const override { return events_.size(); }
  const OperatorRow& row(std::size_t number) override { return events_[number]; }
  const FunctionEvent& event(std::size_t number) override { return events_[number]; }
  std::string_view key(std::size_t number) override { return events_[number].key; }

 private:
  std::span<const FunctionEvent> events_;
  const OperatorRows& facts_;
};

Result<std::string> text_of(std::span<const FunctionEvent> events, const OperatorRows& facts,
                            const SourceReport& source, TableFormat format,
                            const TableOptions& options) {
  if (Status known = check_table_options(options, format); !known.ok()) return known;
  ListedEvents rows(events, facts);
  const Result<report::RowOrder> order = report::sorted_rows(rows, options.sort_by);
  return io::text_of([&](io::TextSink& out) {
    writers::write_event_table(rows, *order, source, format, options, out);
  });
}

/// The sorted rows of recordings, ready to be written.
class SortedEvents {
 public:
  SortedEvents(std::span<const Trace* const> traces, const TableOptions& options)
      : traces_(traces),
        options_(options),
        rows_(traces),
        order_(*report::sorted_rows(rows_, options.sort_by)) {}

  RowCounts count() { return report::RowSelection(rows_, options_).count(); }

  Status write(TableFormat format, io::ByteSink& sink) {
    io::TextSink out(sink);
    SourceReport source;
    if (format == TableFormat::json) source = report::source_report(traces_);
    writers::write_event_table(rows_, order_, source, format, options_, out);
    return out.finish();
  }

 private:
  std::span<const Trace* const> traces_;
  const TableOptions& options_;
  analyses::EventRows rows_;
  report::RowOrder order_;
};

}  // namespace

Result<std::string> EventList::table(const TableOptions& options) const {
  return text_of(events_, facts_, source_, TableFormat::text, options);
}

Result<std::string> EventList::json(const TableOptions& options) const {
  return text_of(events_, facts_, source_, TableFormat::json, options);
}

Result<Table> EventList::report(const TableOptions& options) const {
  ListedEvents events(events_, facts_);
  const Result<report::RowOrder> order = report::sorted_rows(events, options.sort_by);
  if (!order.ok()) return order.status();
  writers::EventTable rows(events, *order, options);
  Table table = {.columns = rows.columns(), .rows = {}};
  while (const std::vector<Cell>* row = rows.next()) table.rows.push_back(*row);
  return table;
}

Status write_events(std::span<const Trace* const> traces, const std::string& path,
                    TableFormat format, const TableOptions& options, bool overwrite,
                    RowCounts* counts) {
  if (Status known = check_table_options(options, format); !known.ok()) return known;
  if (Status same = check_same_process(traces); !same.ok()) return same;
  if (Status place = check_output(path, overwrite); !place.ok()) return place;
  SortedEvents events(traces, options);
  if (counts != nullptr) *counts = events.count();
  return writers::write_file(path, overwrite,
                             [&](io::ByteSink& sink) { return events.write(format, sink); });
}

Status write_events(std::span<const Trace* const> traces, std::ostream& stream, TableFormat format,
                    const TableOptions& options, RowCounts* counts) {
  if (Status known = check_table_options(options, format); !known.ok()) return known;
  if (Status same = check_same_process(traces); !same.ok()) return same;
  SortedEvents events(traces, options);
  if (counts != nullptr) *counts = events.count();
  return events.write(format, *io::stream_sink(stream));
}

}  // namespace tbtrace
