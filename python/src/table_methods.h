// The methods of a trace, a set of traces and a partial that make tables: one for each description
// in tbtrace/tables.h, with the arguments of its options.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>

#include <tbtrace/partial.h>
#include <tbtrace/tables.h>

#include "arguments.h"
#include "job_tables.h"
#include "python_trace.h"

namespace tbtrace::python {

/// What Python's call gives. Throws what makes Python say that the arguments do not fit.
OptionValues given_options(const TableDescription& table, const nanobind::args& args,
                           const nanobind::kwargs& kwargs);

/// `gpu(self, group_by: str = 'device', *, ...) -> Table`, from `gpu(self` on.
std::string signature_of(const TableDescription& table, const std::string& start);
/// What a method makes, and what its arguments are.
std::string what_it_makes(const TableDescription& table);
/// The same of a method of a trace, with its errors and an example.
std::string documentation_of(const TableDescription& table);

template <typename Owner>
void add_table_methods(nanobind::class_<Owner>& owner) {
  for (const TableDescription* const table : tables()) {
    const bool has_table =
        !std::is_same_v<Owner, PythonPartial> || table->in_partials != InPartials::no;
    if (table->make == nullptr || !has_table) continue;
    owner.def(
        std::string(table->name).c_str(),
        [table](const Owner& self, const nanobind::args& args, const nanobind::kwargs& kwargs) {
          const OptionValues given = given_options(*table, args, kwargs);
          const OptionValues complete = value_of(complete_options(*table, given));
          std::string note;
          if constexpr (std::is_same_v<Owner, PythonTraceSet>) {
            if (std::optional<PythonTable> of_job = job_table(self, *table, given, note)) {
              return *std::move(of_job);
            }
          }
          PythonTable made = table_of(
              self,
              [&](const auto& source) {
                Result<AnalysisReport> report = make_table(*table, source, given);
                if (report.ok() && !note.empty()) report->notes.push_back(note);
                return report;
              },
              [&](const Trace* trace) { return why_no_rows(*table, complete, trace); });
          // Other tools count from a start of their own.
          if (chosen_figures(*table, complete) != Figures::exact) made.forget_bases();
          return made;
        },
        documentation_of(*table).c_str(),
        nanobind::sig(signature_of(*table, std::string(table->name) + "(self").c_str()));
  }
}

/// Adds `tables()` to the module.
void bind_table_list(nanobind::module_& module);

}  // namespace tbtrace::python
