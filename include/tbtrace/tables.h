// What a table is: its name, its columns and what they mean, its options, the arguments of events
// that it is made from, and the function that makes it; and the list of those that there are. The
// command line, Python and the pages of docs/formats/ are made from it.
// Constants, plain values and pure functions; results own all their data.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What the values of a column are. A column has one type, whatever its rows.
enum class ValueType : std::uint8_t {
  boolean,
  integer,
  number,
  text,
  texts,  ///< a list of texts
  list,   ///< any other list
  any,    ///< each value has a type of its own
};

/// A column of the rows, or a total.
struct ColumnDescription {
  std::string_view name;  ///< `busy_ns`
  ValueType type = ValueType::text;
  bool has_nulls = false;  ///< some rows may have no value
  /// Markdown; links as from docs/formats/. Empty if the name says it.
  std::string_view meaning = {};

  /// Of its values in JSON: `integer or null`.
  std::string type_text() const;
  /// By the end of the name: `ns`, `us`, `bytes`, `percent` (0 to 100), `share` (0 to 1) or
  /// `per_s`; empty: none.
  std::string_view unit() const;
};

/// The columns in a text with a line `name | type | meaning` for each, where the type is
/// ColumnDescription::type_text(). Views into the text. Throws std::invalid_argument for
/// another type.
std::vector<ColumnDescription> columns_in(std::string_view text);

/// Columns that rows or totals have with some options.
struct ColumnsWithOptions {
  std::string_view of;       ///< `rows`, `totals`, or `adds to rows` of the columns without options
  std::string_view options;  ///< of the command line: `--view alive`; several ` | ` of which one
  std::vector<ColumnDescription> columns;
};

enum class OptionType : std::uint8_t {
  flag,
  choice,   ///< one of `choices`
  choices,  ///< one or several of `choices`, or any texts if there are none
  whole,    ///< a whole number from 0
  number,   ///< a number above 0
  steps,    ///< a step, or the first and the last one
  folder,   ///< the path of a directory
  figures,  ///< those of figures_of(); compat.h
};

/// An option of a table. C++ and Python call it by its name, the command line by `spelling`.
struct OptionDescription {
  std::string_view name;      ///< `group_by`
  std::string_view spelling;  ///< on the command line: `group-by`
  OptionType type = OptionType::flag;
  std::string_view help;  ///< one sentence without a full stop
  /// The same for C++ and Python, if their values are others.
  std::string_view help_in_code = {};
  std::string_view value = {};      ///< the value's name in the help of the command line
  std::string_view otherwise = {};  ///< its default; empty: none
  std::vector<std::string_view> choices = {};
  std::string_view takes = {};  ///< what a number is, for messages: `a number of nanoseconds`
  double scale = 1;             ///< what the command line's number is multiplied by
  bool is_first = false;        ///< Python also takes it without its name
};

using OptionValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>, StepRange>;

/// What a table is asked for. Values that are not given are those of the description.
class OptionValues {
 public:
  OptionValues() = default;
  OptionValues(std::initializer_list<std::pair<const std::string, OptionValue>> values)
      : values_(values) {}

  void set(std::string_view name, OptionValue value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  const std::map<std::string, OptionValue, std::less<>>& all() const& { return values_; }
  std::map<std::string, OptionValue, std::less<>> all() && { return std::move(values_); }

  /// nullptr if it was not given, and has no default.
  const OptionValue* find(std::string_view name) const&;
  const OptionValue* find(std::string_view) const&& = delete;

  // The value of an option; if it has none, or one of another type: false, nullopt or empty.
  bool flag(std::string_view name) const { return value<bool>(name).value_or(false); }
  std::string text(std::string_view name) const {
    return value<std::string>(name).value_or(std::string());
  }
  std::vector<std::string> texts(std::string_view name) const {
    return value<std::vector<std::string>>(name).value_or(std::vector<std::string>());
  }
  std::optional<std::int64_t> whole(std::string_view name) const {
    return value<std::int64_t>(name);
  }
  std::optional<double> number(std::string_view name) const { return value<double>(name); }
  /// Of the option `steps`.
  std::optional<StepRange> steps() const { return value<StepRange>("steps"); }

  /// Whether notes call options as the command line does.
  bool of_command_line = false;
  /// How many rows will be looked at, in the table's own order. A table of single events may leave
  /// out the others: AnalysisReport::left_out.
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();

 private:
  template <typename Value>
  std::optional<Value> value(std::string_view name) const {
    const OptionValue* const found = find(name);
    const Value* const typed = found == nullptr ? nullptr : std::get_if<Value>(found);
    return typed == nullptr ? std::nullopt : std::optional<Value>(*typed);
  }

  std::map<std::string, OptionValue, std::less<>> values_;
};

/// The names of two options that exclude each other, if they have these values; an empty value is
/// any that was given.
struct ExcludedOptions {
  std::string_view one;
  std::string_view value;
  std::string_view other;
  std::string_view other_value = {};
};

/// What a recording needs for a table to have rows.
enum class NeededData : std::uint8_t {
  any,  ///< nothing in particular
  device_activities,
  allocations,  ///< profile_memory
  stacks,       ///< with_stack
  modules,      ///< with_stack, or in C++ attach()
};

/// What people are told of a table without rows.
struct NoRows {
  std::string_view text;  ///< `the trace has no kernels`
  NeededData needs = NeededData::any;
  std::string_view if_recorded = {};  ///< why there are none although the data are there
};

struct TableExample {
  std::string_view command;  ///< `tbtrace gpu trace.json.gz`
  std::string_view meaning;
};

/// Whether partials have the table.
enum class InPartials : std::uint8_t {
  no,
  summed,     ///< rows of all sources are added up
  by_source,  ///< the rows of each source, made by `make`
  of_job,     ///< the sources are compared as the ranks of a job
};

/// Rows of each source that a partial has.
struct KeptRows {
  std::string_view name;  ///< `gpu.streams`
  OptionValues options;   ///< that they are made with
};

struct TableDescription {
  std::string_view name;     ///< of Python's method and of the verb: `gpu`
  std::string_view schema;   ///< `tbtrace.gpu/1`
  std::string_view summary;  ///< one line without a full stop
  std::string_view about;    ///< some lines that end with line ends
  std::vector<ColumnDescription> columns;
  std::vector<ColumnDescription> totals = {};
  std::vector<ColumnsWithOptions> more_columns = {};
  ArgumentSet arguments = {};       ///< without these `make` fails
  ArgumentSet more_arguments = {};  ///< are used if they were read
  ArgumentSet (*arguments_with)(const OptionValues& options) = nullptr;  ///< more, with options
  std::vector<OptionDescription> options = {};
  std::vector<ExcludedOptions> excluded = {};
  std::vector<std::string_view> sort_keys = {};  ///< columns that people sort by
  std::vector<TableExample> examples = {};
  NoRows no_rows = {};
  /// Instead of `no_rows`, if that depends on options.
  NoRows (*no_rows_with)(const OptionValues& options) = nullptr;
  InPartials in_partials = InPartials::no;
  /// Of `by_source`; empty: one with the name of the table, with the default of each option.
  std::vector<KeptRows> kept = {};
  /// In its own figures. The options are complete. nullptr: its verb and method are written by
  /// hand, and only its columns are here.
  Result<AnalysisReport> (*make)(const Trace& trace, const OptionValues& options) = nullptr;
  bool of_part = false;        ///< of chosen steps, `make` gets trace_of_steps()
  bool of_ranks = false;       ///< processes that are not ranks (JobList::not_ranks) do not count
  std::string_view verb = {};  ///< of the command line, where it is not the name: `gpu --gaps`

  /// The verb of the command line.
  std::string_view command() const { return verb.empty() ? name : verb; }
  /// What to read a trace with for it.
  ArgumentSet all_arguments() const { return arguments | more_arguments; }
  /// The names of the columns of rows without options, or of `more_columns` with an option or a
  /// value of this name: `alive`.
  std::vector<std::string> column_names(std::string_view with = {}) const;
  /// Of the rows, whatever the options; nullptr if there is none.
  const ColumnDescription* column(std::string_view column_name) const&;
  const ColumnDescription* column(std::string_view) const&& = delete;
  /// nullptr if there is none.
  const OptionDescription* option(std::string_view option_name) const&;
  const OptionDescription* option(std::string_view) const&& = delete;
};

/// The option `steps`, which tables have alike.
OptionDescription steps_option();

/// The option `figures`, which the command line calls `--compat`.
OptionDescription figures_option(std::string_view value, std::string_view help,
                                 std::string_view otherwise = {});

/// In the order in which people see them.
std::span<const TableDescription* const> tables();

/// nullptr if there is none of this name.
const TableDescription* table_named(std::string_view name);
/// The same by schema, `tbtrace.gpu/1`; also of a summary (`tbtrace.summary/1`), of a comparison,
/// of clocks and of stragglers.
const TableDescription* table_of_schema(std::string_view schema);

/// The options with the defaults of those that are missing. Fails for an option that the table does
/// not have, for a wrong value, and for options that exclude each other.
Result<OptionValues> complete_options(const TableDescription& table, const OptionValues& given);

/// The figures that options choose; those of the table itself if they choose none.
Figures chosen_figures(const TableDescription& table, const OptionValues& options);

/// The arguments to read for a table in chosen figures.
ArgumentSet arguments_for(const TableDescription& table, const OptionValues& options);

/// Makes the table of a trace. Fails as complete_options() does, if the trace was read without
/// arguments that the table needs, and as the table's own function does.
Result<AnalysisReport> make_table(const TableDescription& table, const Trace& trace,
                                  const OptionValues& options = {});
/// The same by name; fails if there is no such table.
Result<AnalysisReport> make_table(std::string_view name, const Trace& trace,
                                  const OptionValues& options = {});

/// Why a table has no rows, for people: what is missing in the trace, and how to get it. Without a
/// trace, as of a partial, how to get what is missing.
std::string why_no_rows(const TableDescription& table, const OptionValues& options,
                        const Trace* trace);

}  // namespace tbtrace
