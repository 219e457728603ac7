// Operator summaries and event lists of a trace, as torch.profiler has them, and exact ones.
// Results own all their data. Functions are pure and may run on any number of threads at once;
// results are immutable. Times are in microseconds where torch uses them (its doubles, to the last
// bit), and in nanoseconds in fields whose name ends in _ns. Bad options are reported as a Status,
// never thrown; running out of memory is thrown (status.h).
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/group_keys.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

struct SummaryOptions {
  bool group_by_input_shape = false;
  int group_by_stack_n = 0;
  StackSource stack_source = StackSource::call_stack;
  bool group_by_overload_name = false;
  /// And by these. Shapes and stacks have options of their own above.
  GroupKeySet by = {};
  /// Whose text and numbers torch's figures are; other figures do not depend on it, nor on the
  /// next.
  TorchVersion torch = kNewestTorch;
  /// Rows of Python functions and modules too, which all versions but 2.13 leave out of averages.
  bool include_python_functions = false;
  /// Number of threads, on which no result depends; 0: one per core. Only torch's figures use
  /// several.
  int threads = 0;
};

/// A thread's part of the exact summary: the two times add up to the window.
struct ThreadTotal {
  std::string process;
  std::string thread;
  std::string name;
  std::int64_t self_cpu_time_total_ns = 0;
  std::int64_t idle_ns = 0;
};

/// What prof.key_averages() returns in Python, from a live recording or from a file.
class OperatorSummary {
 public:
  OperatorSummary(OperatorRows rows, Figures figures, SourceReport source = {},
                  std::int64_t window_ns = 0, std::vector<ThreadTotal> threads = {})
      : rows_(std::move(rows)),
        figures_(figures),
        source_(std::move(source)),
        window_ns_(window_ns),
        threads_(std::move(threads)) {}

  /// The rows, in torch's order: `for (const OperatorRow& row : profiler.key_averages())`.
  std::size_t size() const { return rows_.rows.size(); }
  const OperatorRow& operator[](std::size_t row) const& { return rows_.rows[row]; }
  OperatorRow operator[](std::size_t row) && { return std::move(rows_.rows[row]); }
  auto begin() const { return rows_.rows.begin(); }
  auto end() const { return rows_.rows.end(); }
  std::span<const OperatorRow> rows() const& { return rows_.rows; }
  std::vector<OperatorRow> rows() && { return std::move(rows_.rows); }
  const OperatorRows& data() const& { return rows_; }
  OperatorRows data() && { return std::move(rows_); }
  Figures figures() const { return figures_; }
  const SourceReport& source() const& { return source_; }
  SourceReport source() && { return std::move(source_); }

  /// The text that torch prints; every line ends in a newline. Fails if an option names something
  /// that does not exist.
  Result<std::string> table(const TableOptions& options = {}) const;

  /// The rows that `options` select, sorted as they say, with the totals over all rows
  /// (`tbtrace.ops/1`).
  Result<AnalysisReport> report(const TableOptions& options = {.row_limit = -1}) const;

  /// The same as one JSON object.
  Result<std::string> json(const TableOptions& options = {.row_limit = -1}) const;

  /// Sums over all rows, as in the footer of the table.
  Duration self_cpu_time_total() const;
  Duration self_device_time_total() const;

  /// Only for Figures::exact: the window's length, and each thread's part.
  std::int64_t window_ns() const { return window_ns_; }
  std::span<const ThreadTotal> threads() const& { return threads_; }
  std::vector<ThreadTotal> threads() && { return std::move(threads_); }

  RowCounts count_rows(const TableOptions& options) const;

 private:
  OperatorRows rows_;
  Figures figures_;
  SourceReport source_;
  std::int64_t window_ns_;
  std::vector<ThreadTotal> threads_;
};

/// `ranks`, `hosts` or `processes`: the first of these in which two recordings differ; empty if
/// they are of one process. Recordings of the same time are of different processes, even if these
/// have the same id.
std::string_view what_differs(const TraceIdentity& one, const TraceIdentity& other);

/// How many processes the recordings are of.
std::size_t count_processes(std::span<const TraceIdentity> recordings);

/// Fails if the recordings are not of one process.
Status check_same_process(std::span<const Trace* const> traces);

/// How a function that joins the recordings of one process makes sure of it.
enum class SameProcess : std::uint8_t {
  checked,  ///< fails as check_same_process() does
  known,  ///< the caller knows it, such as a profiler whose process got its rank between two cycles
};

/// In torch's figures. One recording, or several of one profiler, oldest first, as torch's
/// `acc_events` joins them. compat.h has those of torch-tb-profiler.
OperatorSummary operator_summary(const Trace& trace, const SummaryOptions& options = {});
Result<OperatorSummary> operator_summary(std::span<const Trace* const> traces,
                                         const SummaryOptions& options = {},
                                         SameProcess same_process = SameProcess::checked);

/// In exact figures, of any recordings, also of different ranks, hosts and processes. Self times
/// are those of the exact tree; a row's totals count nested calls of the same row once. Two rows
/// complete the sums: `[idle]` is the time in which a host thread ran nothing, and `[unattributed]`
/// the device time and memory that belong to no range. Kernel, memcpy and memset rows show the
/// device side.
OperatorSummary exact_operator_summary(const Trace& trace, const SummaryOptions& options = {});
OperatorSummary exact_operator_summary(std::span<const Trace* const> traces,
                                       const SummaryOptions& options = {});

/// Adds up the same trace by trace. Keeps the rows, not the traces. One thread at a time.
class ExactSummaryBuilder {
 public:
  explicit ExactSummaryBuilder(const SummaryOptions& options = {});
  ExactSummaryBuilder(const ExactSummaryBuilder&) = delete;
  ExactSummaryBuilder& operator=(const ExactSummaryBuilder&) = delete;
  ~ExactSummaryBuilder();

  void add(const Trace& trace);
  OperatorSummary finish() &&;

 private:
  class Sums;
  std::unique_ptr<Sums> sums_;
};

/// A kernel, memcpy or memset that an operator launched.
struct LaunchedKernel {
  std::string name;
  std::int64_t device_index = 0;
  double duration_us = 0;
};

/// One entry of prof.events().
struct FunctionEvent : OperatorRow {
  std::string tid;  ///< as in the file
  bool tid_is_number = true;
  std::int64_t start_ns = 0;  ///< from the start of its trace
  std::int64_t end_ns = 0;
  std::optional<std::size_t> parent;  ///< its row in the list
  /// Number of the `ProfilerStep#N` of its process that was open when it started, or for a device
  /// activity, when it was launched; if several were, of the one that started last.
  std::optional<std::int64_t> step;
  std::optional<std::uint64_t> own_flops;
  std::int64_t sequence_nr = -1;
  bool is_python_function = false;
  std::vector<LaunchedKernel> kernels;
};

/// What prof.events() holds in Python, all in memory: 1 to 2 kB per event. write_events() writes
/// the same rows without keeping them.
class EventList {
 public:
  /// `facts`: what a table needs to know besides the events; its `rows` are empty.
  EventList(std::vector<FunctionEvent> events, OperatorRows facts, SourceReport source = {})
      : events_(std::move(events)), facts_(std::move(facts)), source_(std::move(source)) {}

  std::size_t size() const { return events_.size(); }
  const FunctionEvent& operator[](std::size_t row) const& { return events_[row]; }
  FunctionEvent operator[](std::size_t row) && { return std::move(events_[row]); }
  auto begin() const { return events_.begin(); }
  auto end() const { return events_.end(); }
  const SourceReport& source() const& { return source_; }
  SourceReport source() && { return std::move(source_); }

  Result<std::string> table(const TableOptions& options = {}) const;
  Result<Table> report(const TableOptions& options = {.row_limit = -1}) const;
  /// One JSON object (`tbtrace.ops/1`): the rows that `options` select, and source().
  Result<std::string> json(const TableOptions& options = {.row_limit = -1}) const;

 private:
  std::vector<FunctionEvent> events_;
  OperatorRows facts_;  // without rows
  SourceReport source_;
};

EventList events(const Trace& trace);
/// Several recordings are joined as above.
Result<EventList> events(std::span<const Trace* const> traces,
                         SameProcess same_process = SameProcess::checked);

/// Writes the rows of events(traces), each as soon as it is computed. Memory is that of the data
/// the rows are computed from, about 60 bytes per event. The text is the same as that of
/// EventList::table() and json(), and for CSV and Markdown as that of table_csv() and
/// table_markdown() for EventList::report(). A file appears by rename, complete or not at all; `-`
/// is standard output. An option that does not exist, or recordings of several processes, are
/// reported before anything is written.
/// `counts`, if not null, is set before anything is written.
Status write_events(std::span<const Trace* const> traces, const std::string& path,
                    TableFormat format, const TableOptions& options = {.row_limit = -1},
                    bool overwrite = false, RowCounts* counts = nullptr);
/// The same, to a stream. After a failure the stream holds part of the text.
Status write_events(std::span<const Trace* const> traces, std::ostream& stream, TableFormat format,
                    const TableOptions& options = {.row_limit = -1}, RowCounts* counts = nullptr);

/// Fails if the sort key, or the time unit of a text table, does not exist.
Status check_table_options(const TableOptions& options, TableFormat format);

/// Fails for a metric that prof.export_stacks() does not know.
Status check_stack_metric(std::string_view metric);

/// The lines that prof.export_stacks(path, metric) writes; several recordings are joined as above.
Result<std::string> exported_stacks(std::span<const Trace* const> traces, std::string_view metric);

/// The same, line by line, to a file or to standard output (`-`), or to a stream.
Status write_exported_stacks(std::span<const Trace* const> traces, const std::string& path,
                             std::string_view metric, bool overwrite = false,
                             SameProcess same_process = SameProcess::checked);
Status write_exported_stacks(std::span<const Trace* const> traces, std::ostream& stream,
                             std::string_view metric);

}  // namespace tbtrace
