// Tables as Python's objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

#include "table.h"

namespace tbtrace::python {

/// So many rows that follow each other, whose times count from a Unix time.
struct RowsOfBase {
  std::size_t rows = 0;
  std::int64_t base_time_ns = 0;
};

struct PythonTable {
  std::shared_ptr<const TableData> data;
  /// The Unix time that its times count from, if all of them count from one.
  std::optional<std::int64_t> base_time_ns = {};
  /// The same of the traces of a set, whose rows follow each other. Empty if it is not known.
  std::vector<RowsOfBase> bases = {};

  /// Times count from a start that is not known, such as another tool's.
  void forget_bases() {
    base_time_ns.reset();
    bases.clear();
  }
};

/// The bases of `count` rows from `first` on.
std::vector<RowsOfBase> bases_of_part(const std::vector<RowsOfBase>& bases, std::size_t first,
                                      std::size_t count);

/// A table that can also print itself as torch does.
struct PythonOperators : PythonTable {
  explicit PythonOperators(OperatorSummary made)
      : PythonOperators(std::make_shared<const SummaryTable>(std::move(made))) {}

  std::shared_ptr<const SummaryTable> summary;

 private:
  explicit PythonOperators(std::shared_ptr<const SummaryTable> table)
      : PythonTable{table}, summary(std::move(table)) {}
};

inline PythonTable python_table(AnalysisReport report,
                                std::optional<std::int64_t> base_time_ns = std::nullopt) {
  return {std::make_shared<const ReportTable>(std::move(report)), base_time_ns};
}

/// A text as Python's; bytes that are not UTF-8 become lone surrogates.
nanobind::str text_object(const std::string& text);
/// The bytes that such a text was made of.
std::string text_bytes(nanobind::handle text);
/// A value as Python's: None, a number, a text, a list of texts, or what JSON says.
nanobind::object cell_object(const Cell& cell);

// What pickle keeps of a table: plain objects.

nanobind::tuple table_state(const PythonTable& table);
PythonTable table_of_state(const nanobind::tuple& state);
nanobind::tuple operators_state(const PythonOperators& operators);
PythonOperators operators_of_state(const nanobind::tuple& state);

/// copy.copy() and copy.deepcopy() of what cannot change: the object itself.
template <typename Class>
void add_copies(nanobind::class_<Class>& type, const std::string& name) {
  namespace nb = nanobind;
  type.def(
          "__copy__", [](nb::handle self) { return nb::object(nb::borrow(self)); },
          nb::sig(("def __copy__(self) -> " + name).c_str()))
      .def(
          "__deepcopy__",
          [](nb::handle self, nb::handle /*memo*/) { return nb::object(nb::borrow(self)); },
          nb::sig(("def __deepcopy__(self, memo: typing.Any) -> " + name).c_str()));
}

/// Adds `Column` to the module.
void bind_columns(nanobind::module_& module);
/// `table[name]` as a Column; a KeyError that lists the columns if there is none of this name.
nanobind::object column_object(const PythonTable& table, const std::string& name);
/// Plain buffers of a column, for NumPy: (name, Arrow's format, bytes of the values, bytes that are
/// 1 where there is none, texts). The last three are None if the format has no such thing.
nanobind::tuple column_parts(const ArrowColumn& column);

/// From where `slice` begins, and how many rows it has. A ValueError if it has a step.
std::pair<std::size_t, std::size_t> range_of_slice(const nanobind::slice& slice, std::size_t size);

/// An Arrow structure that Python owns.
template <typename Struct>
nanobind::capsule arrow_capsule(std::unique_ptr<Struct> exported, const char* name) {
  return nanobind::capsule(exported.release(), name, [](void* data) noexcept {
    auto* const owned = static_cast<Struct*>(data);
    if (owned->release != nullptr) owned->release(owned);
    delete owned;
  });
}

}  // namespace tbtrace::python
