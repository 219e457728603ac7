// The event arguments that a Trace can hold, one row each, and the columns that hold them.
// To add an argument, add a row to TBTRACE_ARGUMENTS; the reader, the model and its accessors
// follow. Constants and views; safe from any thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

enum class StringId : std::uint32_t { empty = 0 };
enum class EventId : std::uint32_t { none = 0xffffffff };

/// The type of an argument's value.
enum class ArgumentType : std::uint8_t {
  integer,  ///< 64 bits; values from 2^63 to 2^64-1 keep their bits
  real,     ///< a double; `"N/A"` and other texts count as absent
  text,     ///< a string
  json,     ///< canonical JSON text, the same for all texts of a value: `[[32, 28], []]`
  dim3,     ///< a list of one to three sizes, such as `[864, 1, 1]`
  mark,     ///< has no column; only sets fields of its row
};

/// Groups of arguments that are requested together.
enum class ArgumentGroup : std::uint8_t {
  row,          ///< always read into the rows, without a column: ids, marks, sizes of allocations
  autograd,     ///< sequence numbers
  inputs,       ///< shapes, types and values of an operator's inputs
  strides,      ///< strides of inputs
  call_stacks,  ///< Python or TorchScript frames of an operator
  modules,      ///< TorchScript module hierarchies, and paths of C++ modules
  python,       ///< ids that tie Python frames to each other
  placement,    ///< stream, device and context of device activities
  launches,     ///< kernel launch configuration and occupancy
  copies,       ///< size and bandwidth of memcpys and memsets
  graphs,       ///< CUDA graphs, their nodes, and the labels that the program gave these
  collectives,  ///< what c10d records about a collective
  steps,        ///< the numbers that JAX and TensorFlow give steps; always read
  synchronization,  ///< what a synchronization waited for
  allocations,      ///< addresses and totals of memory records
  annotations,      ///< what a C++ program says of its ranges
};

/// Those that can be requested.
inline constexpr std::array kArgumentGroups = {
    ArgumentGroup::autograd,        ArgumentGroup::inputs,      ArgumentGroup::strides,
    ArgumentGroup::call_stacks,     ArgumentGroup::modules,     ArgumentGroup::python,
    ArgumentGroup::placement,       ArgumentGroup::launches,    ArgumentGroup::copies,
    ArgumentGroup::graphs,          ArgumentGroup::collectives, ArgumentGroup::steps,
    ArgumentGroup::synchronization, ArgumentGroup::allocations, ArgumentGroup::annotations};

/// `autograd`, `inputs`, ...
std::string_view argument_group_name(ArgumentGroup group);

// NAME, TYPE, GROUP, UNIT, and the one or two keys in `args` that writers have used for it. A key
// is in one row only. Source of the keys: libkineto/src (output_json.cpp, CuptiActivity.cpp, ...)
// and torch/csrc/profiler, 2020 to 2026. Labels of CUDA graphs: torch/profiler/
// _chrome_trace_export.py (2.15), _cupti/monitor_trace.py and
// torch/cuda/_annotate_cuda_graph_trace.py (2.14); `module_fqn`: torchtitan.
#define TBTRACE_ARGUMENTS(ROW)                                               \
  ROW(external_id, integer, row, "", "External id", "external id")           \
  ROW(correlation, integer, row, "", "correlation")                          \
  ROW(event_index, mark, row, "", "Ev Idx", "Profiler Event Index")          \
  ROW(finished, mark, row, "", "finished")                                   \
  ROW(asynchronous, mark, row, "", "asynchronous")                           \
  ROW(allocated_bytes, mark, row, "bytes", "Bytes")                          \
  ROW(allocation_device_type, mark, row, "", "Device Type")                  \
  ROW(allocation_device_id, mark, row, "", "Device Id")                      \
  ROW(total_allocated, mark, row, "bytes", "Total Allocated")                \
  ROW(python_id, integer, python, "", "Python id")                           \
  ROW(python_parent_id, integer, python, "", "Python parent id")             \
  ROW(python_module_id, integer, python, "", "Python module id")             \
  ROW(python_thread, integer, python, "", "Python thread")                   \
  ROW(call_from, text, python, "", "CallFrom")                               \
  ROW(sequence_number, integer, autograd, "", "Sequence number")             \
  ROW(forward_thread, integer, autograd, "", "Fwd thread id")                \
  ROW(input_dims, json, inputs, "", "Input Dims", "Input dims")              \
  ROW(input_types, json, inputs, "", "Input type")                           \
  ROW(concrete_inputs, json, inputs, "", "Concrete Inputs")                  \
  ROW(input_strides, json, strides, "elements", "Input Strides")             \
  ROW(call_stack, text, call_stacks, "", "Call stack")                       \
  ROW(module_hierarchy, text, modules, "", "Module Hierarchy")               \
  ROW(module_path, text, modules, "", "Module path")                         \
  ROW(module_parameters, integer, modules, "elements", "Module parameters")  \
  ROW(stream, integer, placement, "", "stream")                              \
  ROW(device, integer, placement, "", "device")                              \
  ROW(context, integer, placement, "", "context")                            \
  ROW(grid, dim3, launches, "blocks", "grid")                                \
  ROW(block, dim3, launches, "threads", "block")                             \
  ROW(registers_per_thread, integer, launches, "", "registers per thread")   \
  ROW(shared_memory, integer, launches, "bytes", "shared memory")            \
  ROW(blocks_per_sm, real, launches, "", "blocks per SM")                    \
  ROW(warps_per_sm, real, launches, "", "warps per SM")                      \
  ROW(occupancy, real, launches, "percent", "est. achieved occupancy %")     \
  ROW(copied_bytes, integer, copies, "bytes", "bytes")                       \
  ROW(bandwidth, real, copies, "GB/s", "memory bandwidth (GB/s)")            \
  ROW(graph_id, integer, graphs, "", "graph id")                             \
  ROW(graph_node_id, integer, graphs, "", "graph node id")                   \
  ROW(label, text, graphs, "", "name")                                       \
  ROW(module_label, text, graphs, "", "module_fqn")                          \
  ROW(annotation, text, graphs, "", "annotation")                            \
  ROW(annotated_stream, integer, graphs, "", "annotated_stream")             \
  ROW(original_stream, integer, graphs, "", "original_stream")               \
  ROW(collective_name, text, collectives, "", "Collective name")             \
  ROW(collective_type, text, collectives, "", "dtype")                       \
  ROW(collective_sequence, integer, collectives, "", "Seq")                  \
  ROW(communicator, integer, collectives, "", "Comms Id")                    \
  ROW(in_elements, integer, collectives, "elements", "In msg nelems")        \
  ROW(out_elements, integer, collectives, "elements", "Out msg nelems")      \
  ROW(in_split, text, collectives, "", "In split size")                      \
  ROW(out_split, text, collectives, "", "Out split size")                    \
  ROW(group_name, text, collectives, "", "Process Group Name")               \
  ROW(group_description, text, collectives, "", "Process Group Description") \
  ROW(group_ranks, text, collectives, "", "Process Group Ranks")             \
  ROW(group_size, integer, collectives, "ranks", "Group size")               \
  ROW(source_rank, integer, collectives, "", "Src Rank")                     \
  ROW(destination_rank, integer, collectives, "", "Dst Rank")                \
  ROW(step_number, integer, steps, "", "step_num")                           \
  ROW(synchronization_kind, text, synchronization, "", "cuda_sync_kind")     \
  ROW(waited_stream, integer, synchronization, "", "wait_on_stream")         \
  ROW(waited_event, integer, synchronization, "", "wait_on_cuda_event_id")   \
  ROW(address, integer, allocations, "", "Addr")                             \
  ROW(total_reserved, integer, allocations, "bytes", "Total Reserved")       \
  ROW(range_arguments, json, annotations, "", "Arguments")

enum class Argument : std::uint8_t {
#define TBTRACE_ARGUMENT(name, ...) name,
  TBTRACE_ARGUMENTS(TBTRACE_ARGUMENT)
#undef TBTRACE_ARGUMENT
      none,
};
inline constexpr std::size_t kArgumentCount = static_cast<std::size_t>(Argument::none);

constexpr std::size_t index(Argument argument) { return static_cast<std::size_t>(argument); }

/// One row of the schema.
struct ArgumentRow {
  static constexpr std::size_t kMostKeys = 2;

  constexpr ArgumentRow(std::string_view row_name, ArgumentType row_type, ArgumentGroup row_group,
                        std::string_view row_unit, std::string_view key,
                        std::string_view older_key = "")
      : name(row_name), type(row_type), group(row_group), unit(row_unit), keys{key, older_key} {}

  std::string_view name;
  ArgumentType type;
  ArgumentGroup group;
  std::string_view unit;  ///< empty: no unit
  std::array<std::string_view, kMostKeys> keys;
};

inline constexpr std::array<ArgumentRow, kArgumentCount> kArgumentRows = {{
#define TBTRACE_ARGUMENT(name, type, group, unit, ...) \
  {#name, ArgumentType::type, ArgumentGroup::group, unit, __VA_ARGS__},
    TBTRACE_ARGUMENTS(TBTRACE_ARGUMENT)
#undef TBTRACE_ARGUMENT
}};
#undef TBTRACE_ARGUMENTS

constexpr const ArgumentRow& argument_row(Argument argument) {
  return kArgumentRows[index(argument)];
}

/// A set of arguments.
class ArgumentSet {
 public:
  constexpr ArgumentSet() = default;
  constexpr ArgumentSet(std::initializer_list<Argument> arguments) {
    for (const Argument argument : arguments) bits_ |= bit(argument);
  }
  /// All arguments of these groups.
  constexpr ArgumentSet(std::initializer_list<ArgumentGroup> groups) {
    for (std::size_t row = 0; row < kArgumentCount; ++row) {
      for (const ArgumentGroup group : groups) {
        if (kArgumentRows[row].group == group) bits_ |= std::uint64_t{1} << row;
      }
    }
  }
  static constexpr ArgumentSet all() {
    ArgumentSet set;
    for (std::size_t row = 0; row < kArgumentCount; ++row) set.bits_ |= std::uint64_t{1} << row;
    return set;
  }

  constexpr bool contains(Argument argument) const { return (bits_ & bit(argument)) != 0; }
  constexpr bool contains_any(ArgumentSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr ArgumentSet operator|(ArgumentSet other) const { return from(bits_ | other.bits_); }
  constexpr ArgumentSet operator-(ArgumentSet other) const { return from(bits_ & ~other.bits_); }
  constexpr bool operator==(const ArgumentSet&) const = default;
  /// One bit per argument, by its number.
  constexpr std::uint64_t bits() const { return bits_; }

 private:
  static_assert(kArgumentCount <= 64, "a set is one word");

  static constexpr std::uint64_t bit(Argument argument) {
    return std::uint64_t{1} << index(argument);
  }
  static constexpr ArgumentSet from(std::uint64_t bits) {
    ArgumentSet set;
    set.bits_ = bits;
    return set;
  }

  std::uint64_t bits_ = 0;
};

/// What torch's operator tables, event lists and stacks are computed from.
inline constexpr ArgumentSet kOperatorArguments = {ArgumentGroup::autograd, ArgumentGroup::inputs,
                                                   ArgumentGroup::call_stacks};

/// Three sizes; sizes that are missing in the file are 1.
struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;

  bool operator==(const Dim3&) const = default;
};

/// The values of one argument by row: by event, or by memory record. A view into a Trace, valid as
/// long as the Trace. Looking up a row takes constant time.
class ArgumentColumn {
 public:
  /// How many rows have a value.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  bool has(std::size_t row) const {
    const std::size_t word = row / 64;
    return word < present_.size() && (present_[word] >> (row % 64) & 1) != 0;
  }
  bool has(EventId event) const { return has(static_cast<std::size_t>(event)); }

  /// nullopt if the row has no value, or the argument has another type.
  std::optional<std::int64_t> integer(std::size_t row) const {
    if (!has(row)) return std::nullopt;
    const std::size_t at = place(row);
    if (at < narrow_.size()) return narrow_[at];
    return at < wide_.size() ? std::optional(wide_[at]) : std::nullopt;
  }
  std::optional<std::int64_t> integer(EventId event) const {
    return integer(static_cast<std::size_t>(event));
  }
  std::optional<double> real(EventId event) const {
    return has(event) && !real_.empty() ? std::optional(real_[place(index_of(event))])
                                        : std::nullopt;
  }
  std::optional<Dim3> dim3(EventId event) const {
    return has(event) && !dim3_.empty() ? std::optional(dim3_[place(index_of(event))])
                                        : std::nullopt;
  }
  /// The id of the value's text in the Trace, for arguments of type text or json.
  StringId text(EventId event) const {
    return has(event) && !text_.empty() ? text_[place(index_of(event))] : StringId::empty;
  }

  /// Calls `visit(EventId)` for each event that has a value, in file order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t word = 0; word < present_.size(); ++word) {
      for (std::uint64_t bits = present_[word]; bits != 0; bits &= bits - 1) {
        visit(static_cast<EventId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }

 private:
  friend class ArgumentValues;

  static std::size_t index_of(EventId event) { return static_cast<std::size_t>(event); }

  /// Index of the value of a row that has one.
  std::size_t place(std::size_t row) const {
    const std::uint64_t below = (std::uint64_t{1} << (row % 64)) - 1;
    return before_[row / 64] + static_cast<std::size_t>(std::popcount(present_[row / 64] & below));
  }

  std::size_t size_ = 0;
  std::span<const std::uint64_t> present_;  // one bit per row
  std::span<const std::uint32_t> before_;   // number of values before each word
  std::span<const std::int32_t> narrow_;    // integers, unless one does not fit
  std::span<const std::int64_t> wide_;
  std::span<const double> real_;
  std::span<const StringId> text_;
  std::span<const Dim3> dim3_;
};

}  // namespace tbtrace
