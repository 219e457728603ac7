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
constexpr std::int64_t kNotebookRows = 50;

/// A function of tbtrace/_frames.py.
nb::object frames(const char* name) { return nb::module_::import_("tbtrace._frames").attr(name); }

nb::list dictionaries(const PythonTable& table, std::size_t first, std::size_t count) {
  nb::list rows;
  Table cells;
  {
    const nb::gil_scoped_release working;
    cells = table.data->part(first, count).table;
  }
  std::vector<nb::object> keys;
  for (const std::string& name : cells.columns) keys.push_back(text_object(name));
  for (const std::vector<Cell>& cells_of_row : cells.rows) {
    nb::dict row;
    for (std::size_t column = 0; column < keys.size(); ++column) {
      row[keys[column]] = cell_object(cells_of_row[column]);
    }
    rows.append(row);
  }
  return rows;
}

nb::dict totals(const PythonTable& table) {
  nb::dict totals;
  for (const auto& [name, value] : table.data->totals()) {
    totals[text_object(name)] = cell_object(value);
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

std::shared_ptr<const ArrowTable> arrow_of(const PythonTable& table) {
  const nb::gil_scoped_release working;
  return std::make_shared<const ArrowTable>(table.data->arrow());
}

nb::capsule stream_capsule(const PythonTable& table, const nb::handle& /*requested_schema*/) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(arrow_of(table), *stream);
  return arrow_capsule(std::move(stream), "arrow_array_stream");
}

nb::capsule schema_capsule(const PythonTable& table) {
  auto schema = std::make_unique<ArrowSchema>();
  export_schema(arrow_of(table), *schema);
  return arrow_capsule(std::move(schema), "arrow_schema");
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

PythonTable slice_of(const PythonTable& table, const nb::slice& slice) {
  const auto [first, count] = range_of_slice(slice, table.data->size());
  return {std::make_shared<const TableSlice>(table.data, first, count), table.base_time_ns,
          bases_of_part(table.bases, first, count)};
}

nb::object bases_of(const PythonTable& table) {
  if (table.bases.empty()) return nb::none();
  nb::list bases;
  for (const RowsOfBase& part : table.bases) {
    bases.append(nb::make_tuple(part.rows, part.base_time_ns));
  }
  return bases;
}

nb::object row_of(const PythonTable& table, std::int64_t row) {
  const auto size = static_cast<std::int64_t>(table.data->size());
  if (row < 0) row += size;
  if (row < 0 || row >= size) throw nb::index_error("the table has fewer rows");
  return dictionaries(table, static_cast<std::size_t>(row), 1)[0];
}

nb::list parts(const PythonTable& table) {
  nb::list parts;
  const std::shared_ptr<const ArrowTable> arrow = arrow_of(table);
  for (const ArrowColumn& column : arrow->columns) parts.append(column_parts(column));
  return parts;
}

void add_rows(nb::class_<PythonTable>& table) {
  table
      .def(
          "__getitem__",
          [](const PythonTable& self, const std::string& name) {
            return column_object(self, name);
          },
          "column"_a, nb::sig("def __getitem__(self, column: str) -> Column"),
          "A column by its name, a row by its number, or the rows of a slice as a table without\n"
          "totals: `table[\"total_ns\"]`, `table[0]`, `table[2:5]`.")
      .def("__getitem__", row_of, "row"_a,
           nb::sig("def __getitem__(self, row: int) -> dict[str, typing.Any]"))
      .def("__getitem__", slice_of, "rows"_a)
      .def(
          "__getitem__",
          [](const PythonTable& /*self*/, nb::handle wrong) {
            const std::string type =
                nb::cast<std::string>(nb::handle(wrong.type()).attr("__name__"));
            throw nb::type_error(
                ("a table takes the name of a column, the number of a row or a slice, "
                 "not " +
                 type + "; data frames, such as to_pandas(), take several columns")
                    .c_str());
          },
          "other"_a)
      .def(
          "__iter__", [](nb::handle self) { return frames("rows")(self); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[dict[str, typing.Any]]"))
      .def("_bases", bases_of, nb::sig("def _bases(self) -> list[tuple[int, int]] | None"))
      .def("_parts", parts, nb::sig("def _parts(self) -> list[tuple[typing.Any, ...]]"))
      .def("__getstate__", table_state, nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](PythonTable& self, const nb::tuple& state) {
            new (&self) PythonTable(table_of_state(state));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def("_dicts", dictionaries, "first"_a, "count"_a,
           nb::sig("def _dicts(self, first: int, count: int) -> list[dict[str, typing.Any]]"))
      .def(
          "to_dicts", [](nb::handle self) { return frames("to_dicts")(self); },
          "A dictionary per row. `for row in table` gives the same without all of them at once.\n\n"
          "    table.to_dicts()[0][\"total_ns\"]",
          nb::sig("def to_dicts(self) -> list[dict[str, typing.Any]]"));
}

void add_frames(nb::class_<PythonTable>& table) {
  table
      .def(
          "to_pandas",
          [](nb::handle self, bool datetimes) { return frames("to_pandas")(self, datetimes); },
          nb::kw_only(), "datetimes"_a = false,
          "A pandas.DataFrame; pandas 2 or 3. Whole numbers are `Int64`, doubles `Float64`, both\n"
          "nullable; texts are categories. `datetimes`: columns that say when something was, such "
          "as\n`start_ns`, become `datetime64[ns, UTC]`. Raises ValueError if it is not known what "
          "times\n"
          "count from, as in partials and in figures of other tools.\n\n"
          "    trace.kernels().to_pandas().nlargest(5, \"total_ns\")",
          nb::sig("def to_pandas(self, *, datetimes: bool = False) -> pandas.DataFrame"))
      .def(
          "to_polars",
          [](nb::handle self, bool datetimes) { return frames("to_polars")(self, datetimes); },
          nb::kw_only(), "datetimes"_a = false,
          "A polars.DataFrame. `datetimes` as for to_pandas().\n\n"
          "    trace.kernels().to_polars().sort(\"total_ns\")",
          nb::sig("def to_polars(self, *, datetimes: bool = False) -> polars.DataFrame"))
      .def(
          "to_arrow",
          [](nb::handle self, bool datetimes) { return frames("to_arrow")(self, datetimes); },
          nb::kw_only(), "datetimes"_a = false,
          "A pyarrow.Table. `datetimes` as for to_pandas().\n\n"
          "    table.to_arrow().schema.names",
          nb::sig("def to_arrow(self, *, datetimes: bool = False) -> pyarrow.Table"))
      .def(
          "to_numpy", [](nb::handle self) { return frames("to_numpy")(self); },
          "A structured array with a field per column. Whole numbers and texts of which some are\n"
          "missing are objects, with None; missing doubles are NaN. For one column:\n"
          "`numpy.asarray(table[\"total_ns\"])`.\n\n"
          "    table.to_numpy()[\"total_ns\"].sum()",
          nb::sig("def to_numpy(self) -> numpy.typing.NDArray[typing.Any]"))
      .def(
          "to_parquet",
          [](nb::handle self, nb::handle path, bool overwrite, bool datetimes) {
            frames("to_parquet")(self, path, overwrite, datetimes);
          },
          "path"_a, nb::kw_only(), "overwrite"_a = false, "datetimes"_a = false,
          "Writes a Parquet file, complete or not at all; needs pyarrow. Raises FileExistsError "
          "if it is\nthere, unless `overwrite`. `datetimes` as for to_pandas().\n\n"
          "    trace.events().to_parquet(\"events.parquet\")",
          nb::sig("def to_parquet(self, path: str | os.PathLike[str], *, overwrite: bool = False, "
                  "datetimes: bool = False) -> None"));
}

constexpr const char* kTableDoc =
    "Rows of figures, with the names and units that the command line's JSON has: times are\n"
    "integers in ns, sizes in bytes.\n\n"
    "`print(table)` shows it as the command line does. It is a sequence of rows, which are\n"
    "dictionaries, and `table[\"total_ns\"]` is a column. to_pandas(), to_polars(), to_arrow() "
    "and\n"
    "to_parquet() are for other packages; DuckDB and all others that know Arrow's PyCapsule\n"
    "interface take it as it is: `duckdb.sql(\"select * from rows\")`. Texts are\n"
    "dictionary-encoded.\n\n"
    "Immutable: any number of threads may use one; `pickle` takes it.";

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

}  // namespace

nb::str text_object(const std::string& text) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

std::string text_bytes(nb::handle text) {
  const nb::object encoded =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!encoded.is_valid()) throw nb::python_error();
  const auto bytes = nb::borrow<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

std::vector<RowsOfBase> bases_of_part(const std::vector<RowsOfBase>& bases, std::size_t first,
                                      std::size_t count) {
  std::vector<RowsOfBase> part;
  std::size_t row = 0;  // where the next base begins
  for (const RowsOfBase& of : bases) {
    const std::size_t begin = std::max(row, first);
    row += of.rows;
    const std::size_t end = std::min(row, first + count);
    part.push_back({end > begin ? end - begin : 0, of.base_time_ns});
  }
  return part;
}

nb::object cell_object(const Cell& cell) { return std::visit(ToPython(), cell); }

void bind_tables(nb::module_& module) {
  bind_columns(module);
  nb::class_<PythonTable> table(module, "Table", kTableDoc);
  add_rows(table);
  add_frames(table);
  add_copies(table, "Table");
  table
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
      .def_prop_ro(
          "base_time_ns", [](const PythonTable& table) { return table.base_time_ns; },
          "The Unix time in ns that its times count from; None if there is no such time, or not "
          "one of\nall rows.")
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
            std::string html;
            {
              const nb::gil_scoped_release working;
              html = value_of(table.data->html(kNotebookRows));
            }
            return text_object(html);
          },
          "The first rows for a notebook, with units, totals and notes.",
          nb::sig("def _repr_html_(self) -> str"))
      .def(
          "to_text",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::optional<std::int64_t> row_limit) {
            return text_in(table, TableFormat::text, sort_by, row_limit.value_or(screen_of(table)));
          },
          "sort_by"_a = nb::none(), "row_limit"_a = nb::none(),
          "The text that the command line prints. `sort_by`: a column, largest first; "
          "`row_limit`:\n"
          "how many rows, -1 for all. Raises ValueError if there is no such column, as the next "
          "ones do.\n\n"
          "    table.to_text(sort_by=\"count\", row_limit=5)",
          nb::sig("def to_text(self, sort_by: str | None = None, row_limit: int | None = None) "
                  "-> str"))
      .def(
          "_csv",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::csv, sort_by, row_limit);
          },
          "sort_by"_a.none(), "row_limit"_a,
          nb::sig("def _csv(self, sort_by: str | None, row_limit: int) -> str"))
      .def(
          "to_csv",
          [](nb::handle self, nb::handle path, nb::handle sort_by, std::int64_t row_limit,
             bool overwrite) {
            return frames("to_csv")(self, path, sort_by, row_limit, overwrite);
          },
          "path"_a = nb::none(), nb::kw_only(), "sort_by"_a = nb::none(), "row_limit"_a = -1,
          "overwrite"_a = false,
          "RFC 4180, with a row of column names: a text, or written to the file `path`, for which\n"
          "not all rows are in memory as text. `sort_by` and `row_limit` as for to_text(). Raises\n"
          "FileExistsError if the file is there, unless `overwrite`; ValueError for a remote "
          "path.\n\n"
          "    table.to_csv(sort_by=\"total_ns\", row_limit=10)\n"
          "    table.to_csv(\"kernels.csv\")",
          nb::sig("def to_csv(self, path: str | os.PathLike[str] | None = None, *, "
                  "sort_by: str | None = None, row_limit: int = -1, overwrite: bool = False) "
                  "-> str | None"))
      .def(
          "to_json",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::json, sort_by, row_limit);
          },
          "sort_by"_a = nb::none(), "row_limit"_a = -1,
          "The command line's JSON object; arguments as for to_text().\n\n"
          "    json.loads(table.to_json())[\"schema\"]",
          nb::sig("def to_json(self, sort_by: str | None = None, row_limit: int = -1) -> str"))
      .def(
          "to_markdown",
          [](const PythonTable& table, const std::optional<std::string>& sort_by,
             std::int64_t row_limit) {
            return text_in(table, TableFormat::markdown, sort_by, row_limit);
          },
          "sort_by"_a = nb::none(), "row_limit"_a = -1,
          "A table for GitHub; arguments as for to_text().\n\n    print(table.to_markdown())",
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
      .def("__getstate__", operators_state,
           nb::sig("def __getstate__(self) -> tuple[typing.Any, ...]"))
      .def(
          "__setstate__",
          [](PythonOperators& self, const nb::tuple& state) {
            new (&self) PythonOperators(operators_of_state(state));
          },
          nb::sig("def __setstate__(self, state: tuple[typing.Any, ...]) -> None"))
      .def("table", torch_table, "sort_by"_a = nb::none(), "row_limit"_a = 100,
           "max_src_column_width"_a = 75, "max_name_column_width"_a = 55,
           "max_shapes_column_width"_a = 80, "header"_a = nb::none(),
           "top_level_events_only"_a = false, "time_unit"_a = nb::none(),
           "The text that torch.profiler's `key_averages().table()` returns for the same events,\n"
           "with torch's arguments. Raises ValueError for a key or a unit that does not exist.\n\n"
           "    print(trace.key_averages().table(sort_by=\"cuda_time_total\", row_limit=5))",
           nb::sig("def table(self, sort_by: str | None = None, row_limit: int = 100, "
                   "max_src_column_width: int | None = 75, max_name_column_width: int | None = 55, "
                   "max_shapes_column_width: int | None = 80, header: str | None = None, "
                   "top_level_events_only: bool = False, time_unit: str | None = None) -> str"));
}

}  // namespace tbtrace::python
