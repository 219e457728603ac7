// Neutral results: rows of an operator summary, a table, and a tree of weighted stacks.
// Analyses create them, writers print them, and neither depends on the other. They own their texts.
// Plain values: any number of threads may read one while none changes it.
// Times are in microseconds where torch uses them, in nanoseconds where a name ends in _ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

namespace TBTRACE_EXPORT tbtrace {

/// Whose definition of the numbers a result has. Two definitions are never mixed. compat.h says
/// which tables there are in which.
enum class Figures : std::uint8_t {
  exact,   ///< integer nanoseconds that add up; every instant of a thread is counted once
  torch,   ///< what torch.profiler prints, with its tree, its doubles and its order
  plugin,  ///< what torch-tb-profiler shows
  hta,     ///< what HolisticTraceAnalysis 0.5.0 computes
};

/// `exact`, `torch`, `plugin`, `hta`.
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
  bool grouped_by_shape = false;  ///< rows may have shapes
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

  const std::string& unit() const { return unit_; }
  std::size_t size() const { return nodes_.size(); }
  std::string_view frame(Node node) const { return frames_[nodes_[node].frame]; }
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

}  // namespace tbtrace
