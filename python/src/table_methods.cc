#include "table_methods.h"

#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/stl/string_view.h>

#include <tbtrace/compat.h>

#include "arguments.h"
#include "failures.h"
#include "module.h"
#include "sources.h"

namespace nb = nanobind;

namespace tbtrace::python {
namespace {

std::string_view help_of(const OptionDescription& option) {
  return option.help_in_code.empty() ? option.help : option.help_in_code;
}

nb::str text(std::string_view text) { return nb::str(text.data(), text.size()); }

template <typename Value>
OptionValue cast(nb::handle value) {
  Value made;
  if (!nb::try_cast<Value>(value, made)) throw nb::next_overload();
  return made;
}

OptionValue value_in(const OptionDescription& option, nb::handle value) {
  switch (option.type) {
    case OptionType::flag:
      return cast<bool>(value);
    case OptionType::choice:
    case OptionType::figures:
      return cast<std::string>(value);
    case OptionType::choices: {
      Names names;
      if (!nb::try_cast<Names>(value, names)) throw nb::next_overload();
      return listed(names);
    }
    case OptionType::whole:
      return cast<std::int64_t>(value);
    case OptionType::number:
      return cast<double>(value);
    case OptionType::folder:
      return input_path(value);
    case OptionType::steps:
      break;
  }
  Steps steps;
  if (!nb::try_cast<Steps>(value, steps)) throw nb::next_overload();
  return *step_range(steps);
}

/// Whether a value is what the method's signature has, which its wrapper always passes on: such an
/// option was not asked for.
bool is_default(const TableDescription& table, const OptionDescription& option,
                const OptionValue& value) {
  static const std::string kOwnFigures = "exact";
  if (option.type == OptionType::figures && option.otherwise.empty()) {
    return value == OptionValue(kOwnFigures);
  }
  const OptionValues usual = value_of(complete_options(table, {}));
  const OptionValue* const without = usual.find(option.name);
  return without == nullptr ? value == OptionValue(false) : *without == value;
}

/// Whether it may be None.
bool is_optional(const OptionDescription& option) {
  return option.otherwise.empty() && option.type != OptionType::flag &&
         option.type != OptionType::figures;
}

std::string_view hint_of(OptionType type) {
  switch (type) {
    case OptionType::flag:
      return "bool";
    case OptionType::choice:
    case OptionType::figures:
      break;
    case OptionType::choices:
      return "str | collections.abc.Sequence[str]";
    case OptionType::whole:
      return "int";
    case OptionType::number:
      return "float";
    case OptionType::folder:
      return "str | os.PathLike[str]";
    case OptionType::steps:
      return "int | tuple[int, int]";
  }
  return "str";
}

std::vector<std::string_view> choices_of(const TableDescription& table,
                                         const OptionDescription& option) {
  std::vector<std::string_view> names = option.choices;
  if (option.type == OptionType::figures) {
    for (const Figures figures : figures_of(table.name)) names.push_back(figures_name(figures));
  }
  return names;
}

/// `typing.Literal['device', 'stream']` where there are choices.
std::string annotation_of(const TableDescription& table, const OptionDescription& option) {
  std::string names;
  for (const std::string_view name : choices_of(table, option)) {
    names += (names.empty() ? "" : ", ") + quoted(name);
  }
  if (names.empty()) return std::string(hint_of(option.type));
  const std::string one = "typing.Literal[" + names + "]";
  return option.type == OptionType::choices ? one + " | collections.abc.Sequence[" + one + "]"
                                            : one;
}

std::string default_of(const OptionDescription& option) {
  if (is_optional(option)) return "None";
  if (option.type == OptionType::flag) return "False";
  if (option.type == OptionType::whole) return std::string(option.otherwise);
  return quoted(option.otherwise.empty() ? "exact" : option.otherwise);
}

nb::list columns_of(const std::vector<ColumnDescription>& columns) {
  nb::list list;
  for (const ColumnDescription& column : columns) {
    nb::dict row;
    row["name"] = text(column.name);
    row["type"] = text(column.type_text());
    row["unit"] = text(column.unit());
    row["meaning"] = text(column.meaning);
    list.append(row);
  }
  return list;
}

nb::dict option_of(const TableDescription& table, const OptionDescription& option) {
  nb::dict row;
  row["name"] = text(option.name);
  row["type"] = text(hint_of(option.type));
  row["default"] = default_of(option);
  row["choices"] = choices_of(table, option);
  row["help"] = text(help_of(option));
  return row;
}

nb::object in_partials(InPartials how) {
  switch (how) {
    case InPartials::no:
      break;
    case InPartials::summed:
      return text("summed");
    case InPartials::by_source:
      return text("by_source");
    case InPartials::of_job:
      return text("of_job");
  }
  return nb::none();
}

nb::list list_tables() {
  nb::list list;
  for (const TableDescription* const table : tables()) {
    nb::list options;
    for (const OptionDescription& option : table->options) {
      options.append(option_of(*table, option));
    }
    nb::dict row;
    row["name"] = text(table->name);
    row["schema"] = text(table->schema);
    row["summary"] = text(table->summary);
    row["in_partials"] = in_partials(table->in_partials);
    row["columns"] = columns_of(table->columns);
    row["totals"] = columns_of(table->totals);
    row["options"] = options;
    list.append(row);
  }
  return list;
}

}  // namespace

OptionValues given_options(const TableDescription& table, const nb::args& args,
                           const nb::kwargs& kwargs) {
  OptionValues values;
  std::set<std::string_view> taken;
  const auto take = [&](const OptionDescription& option, nb::handle value) {
    const bool is_new = taken.insert(option.name).second;
    if (!is_new || (value.is_none() && !is_optional(option))) throw nb::next_overload();
    if (value.is_none()) return;
    OptionValue given = value_in(option, value);
    if (!is_default(table, option, given)) values.set(option.name, std::move(given));
  };
  if (!args.empty()) {
    const bool takes_one = !table.options.empty() && table.options.front().is_first;
    if (args.size() > 1 || !takes_one) throw nb::next_overload();
    take(table.options.front(), args[0]);
  }
  for (const auto& [name, value] : kwargs) {
    const OptionDescription* const option = table.option(nb::cast<std::string>(name));
    if (option == nullptr) throw nb::next_overload();
    take(*option, value);
  }
  return values;
}

std::string signature_of(const TableDescription& table, const std::string& start) {
  std::string signature = "def " + start;
  bool is_named = false;
  for (const OptionDescription& option : table.options) {
    if (!option.is_first && !is_named) signature += ", *";
    is_named = is_named || !option.is_first;
    signature += ", " + std::string(option.name) + ": " + annotation_of(table, option) +
                 (is_optional(option) ? " | None = " : " = ") + default_of(option);
  }
  return signature + ") -> Table";
}

std::string what_it_makes(const TableDescription& table) {
  std::string documentation(table.summary);
  documentation.front() =
      static_cast<char>(std::toupper(static_cast<unsigned char>(documentation.front())));
  documentation += ". tbtrace.tables() has its columns: times are in ns, sizes in bytes.\n";
  for (const OptionDescription& option : table.options) {
    documentation += "\n`" + std::string(option.name) + "`";
    const char* separator = ": ";
    for (const std::string_view name : choices_of(table, option)) {
      documentation += separator + quoted(name);
      separator = ", ";
    }
    documentation += *separator == ':' ? ": " : "; ";
    documentation += std::string(help_of(option)) + ".";
  }
  return documentation;
}

/// An argument for an example; empty if the table takes none without its name.
std::string example_of(const TableDescription& table) {
  if (table.options.empty() || !table.options.front().is_first) return {};
  const std::vector<std::string_view>& choices = table.options.front().choices;
  return choices.size() < 2 ? std::string() : '"' + std::string(choices[1]) + '"';
}

std::string documentation_of(const TableDescription& table) {
  return what_it_makes(table) +
         "\n\nRaises ValueError if an argument is wrong, or if the trace was read without what the "
         "table needs.\n\n    trace." +
         std::string(table.name) + "(" + example_of(table) + ").to_pandas()";
}

void bind_table_list(nb::module_& module) {
  module.def("tables", list_tables,
             "The tables that methods of Trace, TraceSet, Partial and MemorySnapshot make: for "
             "each its `name`,\n"
             "`schema`, `summary`, `columns` and `totals` (`name`, `type`, `unit`, `meaning`) and\n"
             "`options` (`name`, `type`, `default`, `choices`, `help`). `in_partials`: 'summed' if "
             "rows of\n"
             "all sources are added up, 'by_source' if each has its own, 'of_job' if sources are\n"
             "compared as ranks, None if partials lack it.\n\n"
             "    [table[\"name\"] for table in tbtrace.tables()]",
             nb::sig("def tables() -> list[dict[str, typing.Any]]"));
}

}  // namespace tbtrace::python
