// Neutral results: tables, reports of an analysis, rows of an operator summary, and trees of
// weighted stacks; some steps of a trace; versions of torch whose figures there are; and how they
// are written as text, CSV, JSON and Markdown. Plain values that own their texts: any number of
// threads may read one while none changes it. Times are in microseconds where torch uses them, in
// nanoseconds where a name ends in _ns. A report is of one schema (`tbtrace.gpu/1`); docs/formats/
// has a page for each. Names come from files and are escaped for the output format. Files appear by
// rename, complete or not at all; an existing file is a failure unless `overwrite`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/device.h>
#include <tbtrace/export.h>
#include <tbtrace/group_keys.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// docs/parity.md says what depends on the version.
enum class TorchVersion : std::uint8_t {
  v2_13,
  v2_14,
  v2_15,
};
constexpr TorchVersion kNewestTorch = TorchVersion::v2_15;

/// As the command line and Python name it: `2.13`, `2.14`, `2.15`.
std::string_view torch_version_name(TorchVersion version);
/// nullopt for a name that there is not.
std::optional<TorchVersion> torch_version_named(std::string_view name);

/// From the first to the last number, both included.
struct StepRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool contains(std::int64_t number) const { return first <= number && number <= last; }
  bool operator==(const StepRange&) const = default;
};

/// Whose definition of the numbers a result has. Two definitions are never mixed. compat.h says
/// which tables there are in which.
enum class Figures : std::uint8_t {
  exact,   ///< integer nanoseconds that add up; every instant of a thread is counted once
  torch,   ///< what torch.profiler prints, with its tree, its doubles and its order
  plugin,  ///< what torch-tb-profiler shows
};

/// `exact`, `torch`, `plugin`.
std::string_view figures_name(Figures figures);

/// Where the Python stacks that a summary groups by come from.
enum class StackSource : std::uint8_t {
  call_stack,  ///< the argument `Call stack`, as in torch; files have it only with `verbose`
  /// The Python functions and modules around an event, which files have with `with_stack`: the
  /// stacks that torch would have recorded with `verbose`.
  frames,
  either,  ///< an event's `Call stack` if it has one, else its frames
};

/// A time: torch's double, and whole nanoseconds.
struct Duration {
  double us = 0;
  std::int64_t ns = 0;
};

/// What an event is. A row of several events has the kind of its first one.
enum class OperatorKind : std::uint8_t {
  op,          ///< an operator, or a host range without a category
  kernel,      ///< a kernel, memcpy, memset or synchronization on a device
  annotation,  ///< of record_function or of a `ProfilerStep#N`, on the host or on a device
  frame,       ///< a Python function or an `nn.Module`
  other,       ///< a runtime or driver call, overhead, a memory record, `[idle]`, `[unattributed]`
};

/// One row of an operator summary, or one event of a list (then `count` is 1).
struct OperatorRow {
  std::string key;  ///< the name
  OperatorKind kind = OperatorKind::other;
  std::string overload_name;  ///< if grouped by it
  std::int64_t count = 0;
  bool is_user_annotation = false;
  bool is_async = false;
  bool has_cpu_parent = false;  ///< of the first event of the row
  DeviceType device_type = DeviceType::cpu;
  Duration cpu_time_total;
  Duration self_cpu_time_total;
  Duration device_time_total;
  Duration self_device_time_total;
  std::int64_t cpu_memory_usage_bytes = 0;
  std::int64_t self_cpu_memory_usage_bytes = 0;
  std::int64_t device_memory_usage_bytes = 0;
  std::int64_t self_device_memory_usage_bytes = 0;
  std::uint64_t flops = 0;
  std::string input_shapes;        ///< `[[32, 28], []]`; empty: none, or not grouped by shape
  std::vector<std::string> stack;  ///< innermost first
  std::shared_ptr<const GroupValues> values;  ///< of SummaryOptions::by; null without, and of sums
};

/// Options of the table, with Python's names and defaults; nullopt is Python's None.
struct TableOptions {
  /// A field of the rows, by torch's name (`cuda_` and `xpu_` mean `device_`); empty: torch's
  /// order.
  std::string sort_by = {};
  /// Rows to print; -1: all.
  std::int64_t row_limit = 100;
  std::optional<int> max_src_column_width = 75;
  std::optional<int> max_name_column_width = 55;
  std::optional<int> max_shapes_column_width = 80;
  std::optional<std::string> header = std::nullopt;
  bool top_level_events_only = false;
  /// `s`, `ms` or `us` for all times; empty: chosen for each value.
  std::string time_unit = {};
  /// Characters of a line: names are cut and columns left out to fit, those that are read last. 0:
  /// no limit, as in torch.
  std::size_t width = 0;
  /// Follows the number of columns that are left out for that.
  std::string how_to_show_all_columns = {};

  // Which rows are selected. Totals, percentages and column widths stay those of all rows.

  /// Only rows of these kinds; empty: all.
  std::vector<OperatorKind> kinds = {};
  /// Only rows whose name it accepts; empty: all. Must give the same result for the same name.
  std::function<bool(std::string_view name)> accepts_name = {};
};

/// How many rows TableOptions select by kind, name and top level, and of how many; `row_limit` does
/// not matter.
struct RowCounts {
  std::size_t selected = 0;
  std::size_t all = 0;
};

/// How a table is written: as torch prints it, or for other programs with exact numbers.
enum class TableFormat : std::uint8_t { text, csv, json, markdown };

/// The rows of a summary or of an event list, with what else a table needs to know.
struct OperatorRows {
  std::vector<OperatorRow> rows;  ///< in torch's own order
  std::optional<DeviceType> use_device;
  bool profile_memory = false;
  bool with_flops = false;
  bool grouped_by_shape = false;        ///< rows may have shapes
  GroupKeySet by = {};                  ///< rows have values of these
  std::vector<std::string> notes = {};  ///< why some events have no values of these
  /// There are no device rows; device time is shown with the operators only.
  bool device_time_on_operators = false;
};

/// One value of a table. Json is text that is JSON already (shapes, lists).
struct Json {
  std::string text;

  bool operator==(const Json&) const = default;
};
using Cell = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                          std::vector<std::string>, Json>;

/// Rows of typed columns; column names carry their unit (`self_cpu_time_total_ns`).
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Stacks as a prefix tree: each node is a frame under its parent; its weight is what was spent in
/// the frame itself. Nodes are numbered parent before child; 0 is the root.
class StackTree {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0;

  /// `unit`: `ns` or `bytes`.
  explicit StackTree(std::string unit) : unit_(std::move(unit)) { nodes_.push_back({}); }

  const std::string& unit() const& { return unit_; }
  std::string unit() && { return std::move(unit_); }
  std::size_t size() const { return nodes_.size(); }
  std::string_view frame(Node node) const& { return frames_[nodes_[node].frame]; }
  std::string_view frame(Node) const&& = delete;
  Node parent(Node node) const { return nodes_[node].parent; }
  std::int64_t self(Node node) const { return nodes_[node].self; }

  /// Sum of all weights.
  std::int64_t total() const { return total_; }

  /// The number of a frame's text, for child().
  std::uint32_t frame_number(std::string_view frame);

  /// The node of a frame under `parent`, created on first use.
  Node child(Node parent, std::uint32_t frame_number);

  /// A new node under `parent`, even if there is one of the same frame; child() does not find it.
  Node add_child(Node parent, std::uint32_t frame_number);

  /// Adds to a node's own weight, which must not be negative.
  void add(Node node, std::int64_t weight);

 private:
  struct Entry {
    std::uint32_t frame = 0;
    Node parent = kRoot;
    std::int64_t self = 0;
  };

  std::string unit_;
  std::vector<std::string> frames_ = {""};
  std::unordered_map<std::string, std::uint32_t> frame_numbers_ = {{"", 0}};
  std::vector<Entry> nodes_;
  std::unordered_map<std::uint64_t, Node> children_;  // parent, frame
  std::int64_t total_ = 0;
};

/// RFC 4180: a header row of column names, then one row per line, ended by CRLF. Lists are joined
/// by `;`. Cells that a spreadsheet would take for a formula are kept unchanged.
std::string table_csv(const Table& table);

/// A GitHub table: names in backticks, numbers right-aligned. Columns without any values are left
/// out.
std::string table_markdown(const Table& table);

/// One object: `"schema"`, then `"rows"`, one object per row, then `members` unchanged (JSON
/// texts).
std::string table_json(std::string_view schema, const Table& table,
                       const std::vector<std::pair<std::string, std::string>>& members);

/// What is known about the traces that a result was computed from: sums over all of them.
struct SourceReport {
  std::map<std::string, std::uint64_t, std::less<>> issues;  ///< how often, by Issue::id
  LinkReport links;
};

struct AnalysisReport {
  using Totals = std::vector<std::pair<std::string, Cell>>;

  std::string schema;
  /// All rows, in the analysis's own order. Units are part of the column names: `_ns`, `_bytes`,
  /// `_percent` (0 to 100), `_share` and `utilization` (0 to 1).
  Table table;
  std::uint64_t left_out = 0;  ///< rows at its end, by OptionValues::most_rows
  /// Over all rows. Those with a column's name form the last line of a text, the others follow it.
  Totals totals;
  std::string totals_label = "total";  ///< what that line is called, such as `mean`
  /// Totals without a column that people see only if they are not 0.
  std::vector<std::string> totals_if_any = {};
  /// What else is known of all rows of one report; only JSON has it.
  Totals facts = {};
  /// The totals of several reports whose sums are `sums` and whose rows are `rows`. nullptr: the
  /// sums themselves.
  Totals (*joined_totals)(const Totals& sums, const Table& rows) = nullptr;
  /// The columns of rows that form a tree, each below the row around it. People see `name`,
  /// indented by `depth`, and in sorted rows `path` instead.
  struct Tree {
    std::string name;
    std::string path;
    std::string depth;
  };
  std::optional<Tree> tree;
  /// The columns of rows that are a figure each: people see values with the unit that is in the
  /// figure's name, as in a column's.
  struct NamedValues {
    std::string name;
    std::string value;
  };
  std::optional<NamedValues> named_values;
  /// The columns that people see, in this order: where a line is too short the last ones are left
  /// out. A column without any value is left out as well.
  std::vector<std::string> shown;
  /// Sentences for people, below the table: what is missing, and how to get it.
  std::vector<std::string> notes;
  SourceReport source;
};

/// The rows of all reports, one after the other, with the totals and sources of all. They are of
/// one schema and were made with the same options. Without reports an empty one.
AnalysisReport join_reports(std::vector<AnalysisReport> reports);

/// The report of one of several inputs.
struct ReportOfInput {
  std::optional<std::int64_t> rank;
  std::string path;
  AnalysisReport report;
};

/// The same by rank, inputs without one last, then by path in natural order. `with_paths`: reports
/// get a first column `input` with the path, unless they have it.
AnalysisReport join_inputs(std::vector<ReportOfInput> inputs, bool with_paths);

struct ReportOptions {
  TableFormat format = TableFormat::text;
  /// A column; largest numbers first, texts in the order of their bytes, rows without a value last.
  /// Empty: the analysis's own order.
  std::string sort_by = {};
  /// Rows to show; -1: all.
  std::int64_t row_limit = -1;

  // Of a text; the other formats have all columns and full names.

  /// Characters of a line: texts are cut and the last columns left out to fit. 0: no limit.
  std::size_t width = 0;
  /// All columns that have a value, whatever the width.
  bool wide = false;
  /// Follows the number of columns that are left out, such as `--wide shows all`.
  std::string how_to_show_all_columns = {};
};

/// Makes a report, such as `gpu_report(trace, options)`.
using AnalyseTrace = std::function<Result<AnalysisReport>(const Trace& trace)>;

/// Fails if the reports of `analyse` lack the column to sort by, which so is known before any trace
/// is read: `analyse` makes the report of a trace without events, or with an empty step if it
/// selects `steps`. If it fails for that trace, nothing is checked. The column `input` passes,
/// because join_inputs() adds it.
Status check_report_options(const AnalyseTrace& analyse, const ReportOptions& options,
                            const std::optional<StepRange>& steps = std::nullopt);

/// The rows that `options` select, in their order. Fails if the column to sort by does not exist.
Result<Table> report_rows(const AnalysisReport& report, const ReportOptions& options = {});

/// The same, which takes the rows from the report.
Result<Table> report_rows(AnalysisReport&& report, const ReportOptions& options = {});

/// The report in one of the four formats. Fails if the column to sort by does not exist.
Result<std::string> report_text(const AnalysisReport& report, const ReportOptions& options = {});

/// The report as HTML for a notebook: the rows that `options` select in the columns that people
/// see, with units, totals and notes. Everything from files is escaped. Fails if the column to sort
/// by does not exist.
Result<std::string> report_html(const AnalysisReport& report, const ReportOptions& options = {});

/// Sentences for a terminal: breaks lines of more than `width` characters at blanks; what follows
/// is indented by four blanks more than the line. Words that are too long stay whole. 0: `text` as
/// it is.
std::string wrapped_text(std::string_view text, std::size_t width);

Status write_text(std::string_view text, const std::string& path, bool overwrite = false);

/// Reports what these would refuse anyway (the file exists, it is a directory), so that no long
/// computation is wasted.
Status check_output(const std::string& path, bool overwrite = false);

}  // namespace tbtrace
