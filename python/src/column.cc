// One column of a table as Python's object.
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arguments.h"
#include "failures.h"
#include "python_table.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tbtrace::python {
namespace {

struct PythonColumn {
  std::shared_ptr<const TableData> data;
  std::size_t number = 0;
  std::string name;
};

nb::list to_list(const PythonColumn& column, std::size_t first, std::size_t count) {
  nb::list values;
  for (const Cell& cell : column.data->cells(column.number, first, count)) {
    values.append(cell_object(cell));
  }
  return values;
}

nb::list all_of(const PythonColumn& column) { return to_list(column, 0, column.data->size()); }

nb::object item(const PythonColumn& column, std::int64_t row) {
  const auto size = static_cast<std::int64_t>(column.data->size());
  if (row < 0) row += size;
  if (row < 0 || row >= size) throw nb::index_error("the column has fewer values");
  return to_list(column, static_cast<std::size_t>(row), 1)[0];
}

PythonColumn part(const PythonColumn& column, const nb::slice& slice) {
  const auto [first, count] = range_of_slice(slice, column.data->size());
  return {std::make_shared<const TableSlice>(column.data, first, count), column.number,
          column.name};
}

std::shared_ptr<const ArrowTable> arrow_of(const PythonColumn& column) {
  const nb::gil_scoped_release working;
  auto table = std::make_shared<ArrowTable>();
  table->schema = column.data->schema();
  table->rows = static_cast<std::int64_t>(column.data->size());
  table->columns.push_back(column.data->arrow_column(column.number));
  return table;
}

nb::tuple arrow_array(const PythonColumn& column, const nb::handle& /*requested_schema*/) {
  auto schema = std::make_unique<ArrowSchema>();
  auto array = std::make_unique<ArrowArray>();
  export_array(arrow_of(column), 0, *schema, *array);
  return nb::make_tuple(arrow_capsule(std::move(schema), "arrow_schema"),
                        arrow_capsule(std::move(array), "arrow_array"));
}

nb::object arrow_schema(const PythonColumn& column) { return arrow_array(column, {})[0]; }

std::string text_of(const PythonColumn& column) {
  constexpr std::size_t kMost = 5;
  const nb::list first = to_list(column, 0, kMost);
  std::string values;
  for (const nb::handle value : first) {
    values += (values.empty() ? "" : ", ") + nb::cast<std::string>(nb::repr(value));
  }
  if (column.data->size() > kMost) values += ", ...";
  return "<tbtrace.Column " + column.name + ", " + std::to_string(column.data->size()) +
         " values: [" + values + "]>";
}

/// Whether a row has a value.
bool has_value(const ArrowColumn& column, std::int64_t row) {
  const auto* const bits = static_cast<const std::uint8_t*>(column.buffers[0].data);
  return bits == nullptr || ((bits[row / 8] >> (row % 8)) & 1) != 0;
}

nb::bytes values_of(const ArrowColumn& column, std::size_t size_of_value) {
  const auto* const values = static_cast<const char*>(column.buffers[1].data);
  return nb::bytes(values + static_cast<std::size_t>(column.offset) * size_of_value,
                   static_cast<std::size_t>(column.rows) * size_of_value);
}

nb::object missing_of(const ArrowColumn& column) {
  if (column.nulls == 0) return nb::none();
  std::string missing;
  for (std::int64_t row = 0; row < column.rows; ++row) {
    missing.push_back(has_value(column, column.offset + row) ? '\0' : '\1');
  }
  return nb::bytes(missing.data(), missing.size());
}

/// Of a column of texts: its rows, None where it has no value.
nb::list texts_of(const ArrowColumn& column) {
  nb::list texts;
  const auto* const ends = static_cast<const std::int64_t*>(column.buffers[1].data);
  const auto* const bytes = static_cast<const char*>(column.buffers[2].data);
  for (std::int64_t row = column.offset; row < column.offset + column.rows; ++row) {
    if (has_value(column, row)) {
      texts.append(nb::str(bytes + ends[row], static_cast<std::size_t>(ends[row + 1] - ends[row])));
    } else {
      texts.append(nb::none());
    }
  }
  return texts;
}

nb::list lists_of(const ArrowColumn& column) {
  nb::list lists;
  const ArrowColumn& items = column.children[0];
  const nb::list texts = texts_of(*items.dictionary);
  const auto* const ends = static_cast<const std::int64_t*>(column.buffers[1].data);
  const auto* const numbers = static_cast<const std::int32_t*>(items.buffers[1].data);
  for (std::int64_t row = column.offset; row < column.offset + column.rows; ++row) {
    if (!has_value(column, row)) {
      lists.append(nb::none());
      continue;
    }
    nb::list list;
    for (std::int64_t at = ends[row]; at < ends[row + 1]; ++at) {
      list.append(texts[static_cast<std::size_t>(numbers[at])]);
    }
    lists.append(list);
  }
  return lists;
}

nb::bytes booleans_of(const ArrowColumn& column) {
  const auto* const bits = static_cast<const std::uint8_t*>(column.buffers[1].data);
  std::string values;
  for (std::int64_t row = column.offset; row < column.offset + column.rows; ++row) {
    values.push_back(((bits[row / 8] >> (row % 8)) & 1) != 0 ? '\1' : '\0');
  }
  return nb::bytes(values.data(), values.size());
}

}  // namespace

nb::object column_object(const PythonTable& table, const std::string& name) {
  std::string all;
  std::size_t number = 0;
  for (const std::string& column : table.data->columns()) {
    if (column == name) return nb::cast(PythonColumn{table.data, number, name});
    all += (all.empty() ? "" : ", ") + column;
    ++number;
  }
  throw nb::key_error(("the table has no column '" + name + "'; it has " + all).c_str());
}

nb::tuple column_parts(const ArrowColumn& column) {
  const auto made = [&](const nb::object& values, const nb::object& texts) {
    return nb::make_tuple(column.name, column.format, values, missing_of(column), texts);
  };
  if (column.format == "U") return made(nb::none(), texts_of(column));
  if (column.format == "+L") return made(nb::none(), lists_of(column));
  if (column.format == "b") return made(booleans_of(column), nb::none());
  if (column.dictionary) {
    return made(values_of(column, sizeof(std::int32_t)), texts_of(*column.dictionary));
  }
  return made(values_of(column, sizeof(std::int64_t)), nb::none());
}

std::pair<std::size_t, std::size_t> range_of_slice(const nb::slice& slice, std::size_t size) {
  const auto [first, last, step, count] = slice.compute(size);
  if (step != 1) wrong_argument("a slice of a table has no step: its rows follow each other");
  return {static_cast<std::size_t>(first), count};
}

void bind_columns(nb::module_& module) {
  nb::class_<PythonColumn>(
      module, "Column",
      "The values of one column of a table, in the order of its rows: `table[\"total_ns\"]`.\n"
      "Unknown values are None. `numpy.asarray(column)` and all that knows Arrow's PyCapsule\n"
      "interface take it: `polars.Series(column)`, `pyarrow.array(column)`. Immutable.\n\n"
      "    sum(trace.kernels()[\"total_ns\"])")
      .def_prop_ro(
          "name", [](const PythonColumn& column) { return column.name; }, "The column's name.")
      .def("__len__", [](const PythonColumn& column) { return column.data->size(); })
      .def("__getitem__", item, "row"_a, nb::sig("def __getitem__(self, row: int) -> typing.Any"))
      .def("__getitem__", part, "rows"_a)
      .def(
          "__iter__", [](const PythonColumn& column) { return nb::iter(all_of(column)); },
          nb::sig("def __iter__(self) -> collections.abc.Iterator[typing.Any]"))
      .def("to_list", all_of,
           "All values, None where one is unknown.\n\n    table[\"total_ns\"].to_list()",
           nb::sig("def to_list(self) -> list[typing.Any]"))
      .def("__repr__", text_of)
      .def(
          "__reduce__",
          [](const PythonColumn& column) {
            return nb::make_tuple(nb::module_::import_("operator").attr("getitem"),
                                  nb::make_tuple(PythonTable{column.data, {}}, column.name));
          },
          nb::sig("def __reduce__(self) -> tuple[typing.Any, ...]"))
      .def(
          "_parts",
          [](const PythonColumn& column) { return column_parts(arrow_of(column)->columns[0]); },
          nb::sig("def _parts(self) -> tuple[typing.Any, ...]"))
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return nb::module_::import_("tbtrace._frames").attr("column_array")(self, dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none(),
          nb::sig("def __array__(self, dtype: typing.Any = None, copy: bool | None = None) "
                  "-> typing.Any"))
      .def("__arrow_c_array__", arrow_array, "requested_schema"_a = nb::none(),
           nb::sig("def __arrow_c_array__(self, requested_schema: object | None = None) "
                   "-> tuple[object, object]"))
      .def("__arrow_c_schema__", arrow_schema, nb::sig("def __arrow_c_schema__(self) -> object"));
}

}  // namespace tbtrace::python
