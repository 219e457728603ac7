#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <nanobind/nanobind.h>

#include <tbtrace/capabilities.h>

#include "arguments.h"
#include "failures.h"
#include "module.h"
#include "python_table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

constexpr std::int64_t kScreen = 20;           // rows of a text, as on the command line
constexpr std::int64_t kOperatorScreen = 100;  // as torch prints
constexpr std::size_t kNotebookRows = 50;

nb::str text_object(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

struct ToPython {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(bool value) const { return nb::bool_(value); }
  nb::object operator()(std::int64_t value) const { return nb::int_(value); }
  nb::object operator()(std::uint64_t value) const { return nb::int_(value); }
  nb::object operator()(double value) const { return nb::float_(value); }
  nb::object operator()(const std::string& value) const { return text_object(value); }
  nb::object operator()(const Json& value) const { return from_json(value.text); }
  nb::object operator()(const std::vector<std::string>& values) const {
    nb::list list;
    for (const std::string& value : values) list.append(text_object(value));
    return list;
  }
};

nb::list dictionaries(const PythonTable& table) {
  nb::list rows;
  const Table cells = table.data->rows(0, table.data->size());
  std::vector<nb::object> keys;
  for (const std::string& name : cells.columns) keys.push_back(text_object(name));
  for (const std::vector<Cell>& cells_of_row : cells.rows) {
    nb::dict row;
    for (std::size_t column = 0; column < keys.size(); ++column) {
      row[keys[column]] = std::visit(ToPython(), cells_of_row[column]);
    }
    rows.append(row);
  }
  return rows;
}

nb::dict totals(const PythonTable& table) {
  nb::dict totals;
  for (const auto& [name, value] : table.data->totals()) {
    totals[text_object(name)] = std::visit(ToPython(), value);
  }
  return totals;
}

nb::dict issues(const PythonTable& table) {
  nb::dict issues;
  for (const auto& [id, count] : table.data->source().issues) issues[id.c_str()] = count;
  return issues;
}

nb::str text_in(const PythonTable& table, TableFormat format,
                const std::optional<std::string>& sort_by, std::int64_t row_limit) {
  if (row_limit < -1) wrong_argument("row_limit takes a number, -1 for all");
  std::string text;
  {
    const nb::gil_scoped_release working;
    text = value_of(table.data->text(
        {.format = format, .sort_by = sort_by.value_or(""), .row_limit = row_limit}));
  }
  return text_object(text);
}

std::int64_t screen_of(const PythonTable& table) {
  return table.data->schema() == "tbtrace.ops/1" ? kOperatorScreen : kScreen;
}

template <typename Struct>
nb::capsule capsule(std::unique_ptr<Struct> exported, const char* name) {
  return nb::capsule(exported.release(), name, [](void* data) noexcept {
    auto* const owned = static_cast<Struct*>(data);
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  });
}

std::shared_ptr<const ArrowTable> arrow_of(const PythonTable& table) {
  const nb::gil_scoped_release working;
  return std::make_shared<const ArrowTable>(table.data->arrow());
}

nb::capsule stream_capsule(const PythonTable& table, const nb::handle& /*requested_schema*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(arrow_of(table), *stream);
  return capsule(std::move(stream), "arrow_array_stream");
}

nb::capsule schema_capsule(const PythonTable& table) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(arrow_of(table), *schema);
  return capsule(std::move(schema), "arrow_schema");
}

/// A width of torch's table: a number, or None for as wide as it takes.
std::optional<int> width(std::optional<int> given) {
  if (given && *given < 0) wrong_argument("a width takes a number from 0, or None");
  return given;
}

nb::str torch_table(const PythonOperators& operators, const std::optional<std::string>& sort_by,
                    std::int64_t row_limit, std::optional<int> source_width,
                    std::optional<int> name_width, std::optional<int> shapes_width,
                    const std::optional<std::string>& header, bool top_level_events_only,
                    const std::optional<std::string>& time_unit) {
  const TableOptions options = {.sort_by = sort_by.value_or(""),
                                .row_limit = row_limit,
                                .max_src_column_width = width(source_width),
                                .max_name_column_width = width(name_width),
                                .max_shapes_column_width = width(shapes_width),
                                .header = header,
                                .top_level_events_only = top_level_events_only,
                                .time_unit = time_unit.value_or("")};
  std::string text;
  {
    const nb::gil_scoped_release working;
    check(check_table_options(options, TableFormat::text));
    text = value_of(operators.summary->summary().table(options));
  }
  return text_object(text);
}

constexpr const char* kTableDoc =
    "Rows of figures, with the names and units that the command line's JSON has: times are\n"
    "integers in ns, sizes in bytes.\n\n"
    "`print(table)` shows it as the command line does. pandas, Polars, DuckDB, pyarrow and others\n"
    "that know Arrow's PyCapsule interface take it as it is: `polars.DataFrame(rows)`,\n"
    "`pandas.DataFrame.from_arrow(rows)`, `pyarrow.table(rows)`,\n"
    "`duckdb.sql(\"select * from rows\")`. Texts are dictionary-encoded.\n\n"
    "Immutable: any number of threads may use one.";

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<PythonTable>(module, "Table", kTableDoc)
      .def_prop_ro(
          "schema", [](const PythonTable& table) { return table.data->schema(); },
          "The table's kind and version, such as `tbtrace.kernels/1`.")
      .def_prop_ro(
          "columns", [](const PythonTable& table) { return table.data->columns(); },
          "The names of the columns.")
      .def_prop_ro("totals", totals, "Sums over all rows, by name.",
                   nb::sig("def totals(self) -> dict[str, typing.Any]"))
      .def_prop_ro(
          "notes", [](const PythonTable& table) { return table.data->notes(); },
          "Sentences about what is missing, and how to get it.")
      .def_prop_ro("issues", issues, "Problems of the inputs: how often each was found, by its id.",
                   nb::sig("def issues(self) -> dict[str, int]"))
      .def("__len__", [](const PythonTable& table) { return table.data->size(); })
      .def("__str__",
           [](const PythonTable& table) {
             return text_in(table, TableFormat::text, {}, screen_of(table));
           })
      .def("__repr__",
           [](const PythonTable& table) { return text_in(table, TableFormat::text, {}, kScreen); })
      .def(
          "_repr_html_",
          [](const PythonTable& table) {
            return text_object(html_table(*table.data, kNotebookRows));
          },
          "The first rows for a notebook.")
      .def("to_dicts", dictionaries, "A dictionary per row.",
           nb::sig("def to_dicts(self) -> list[dict[str, typing.Any]]"))
      .def(
          "to_text",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::optional<std::int64_t> row_limit) {
            return text_in(table, TableFormat::text, sort_by, row_limit.value_or(screen_of(table)));
          },
          "sort_by"_a = nb::none(), "row_limit"_a = nb::none(),
          "The text that the command line prints. `sort_by`: a column, largest first; "
          "`row_limit`:\n"
          "how many rows, -1 for all.",
          nb::sig("def to_text(self, sort_by: str | None = None, row_limit: int | None = None) "
                  "-> str"))
      .def(
          "to_csv",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::csv, sort_by, row_limit);
          },
          "sort_by"_a = nb::none(), "row_limit"_a = -1, "RFC 4180, with a row of column names.",
          nb::sig("def to_csv(self, sort_by: str | None = None, row_limit: int = -1) -> str"))
      .def(
          "to_json",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::json, sort_by, row_limit);
          },
          "sort_by"_a = nb::none(), "row_limit"_a = -1, "The command line's JSON object.",
          nb::sig("def to_json(self, sort_by: str | None = None, row_limit: int = -1) -> str"))
      .def(
          "to_markdown",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::markdown, sort_by, row_limit);
          },
          "sort_by"_a = nb::none(), "row_limit"_a = -1, "A table for GitHub.",
          nb::sig("def to_markdown(self, sort_by: str | None = None, row_limit: int = -1) -> str"))
      .def("__arrow_c_stream__", stream_capsule, "requested_schema"_a = nb::none(),
           "The rows as a stream of Arrow's C interface, in one batch. A requested schema is\n"
           "ignored, which the protocol allows.",
           nb::sig("def __arrow_c_stream__(self, requested_schema: object | None = None) "
                   "-> object"))
      .def("__arrow_c_schema__", schema_capsule, "The schema of that stream.",
           nb::sig("def __arrow_c_schema__(self) -> object"));

  nb::class_<PythonOperators, PythonTable>(
      module, "Operators", "A row per operator: what torch's `key_averages()` returns, as a table.")
      .def("table", torch_table, "sort_by"_a = nb::none(), "row_limit"_a = 100,
           "max_src_column_width"_a = 75, "max_name_column_width"_a = 55,
           "max_shapes_column_width"_a = 80, "header"_a = nb::none(),
           "top_level_events_only"_a = false, "time_unit"_a = nb::none(),
           "The text that torch.profiler's `key_averages().table()` returns for the same events,\n"
           "with torch's arguments. Raises ValueError for a key or a unit that does not exist.",
           nb::sig("def table(self, sort_by: str | None = None, row_limit: int = 100, "
                   "max_src_column_width: int | None = 75, max_name_column_width: int | None = 55, "
                   "max_shapes_column_width: int | None = 80, header: str | None = None, "
                   "top_level_events_only: bool = False, time_unit: str | None = None) -> str"));
}

}  // namespace tbtrace::python
