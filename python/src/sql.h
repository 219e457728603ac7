// The method sql() of what has tables.
#pragma once

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tbtrace::python {

constexpr const char* kSqlOfTables =
    "The answer to a query in SQL, by DuckDB (pip install duckdb): a relation, which\n"
    "prints itself and has df(), pl(), fetchall(). The tables are those of tbtrace.tables()\n"
    "by the names of the methods, with exact figures; each is made when a query names it.\n"
    "Raises ValueError for a wrong query.\n\n"
    "    trace.sql(\"select name, total_ns from kernels\").fetchall()";

/// Adds it to the class; tbtrace/_sql.py answers.
template <typename Class>
void define_sql(Class& bound, const char* description = kSqlOfTables) {
  bound.def(
      "sql",
      [](nanobind::handle self, const std::string& query) {
        return nanobind::module_::import_("tbtrace._sql").attr("answer")(self, query);
      },
      nanobind::arg("query"), description,
      nanobind::sig("def sql(self, query: str) -> typing.Any"));
}

}  // namespace tbtrace::python
