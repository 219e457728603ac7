// The classes and functions of the Python module, a file of their own each.
#pragma once

#include <nanobind/nanobind.h>

namespace tbtrace::python {

void bind_tables(nanobind::module_& module);
void bind_flame_graph(nanobind::module_& module);
void bind_summary(nanobind::module_& module);
void bind_report(nanobind::module_& module);
void bind_partial(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_trace_set(nanobind::module_& module);
void bind_convert(nanobind::module_& module);
void bind_rewrite(nanobind::module_& module);
void bind_ranks(nanobind::module_& module);
void bind_diff(nanobind::module_& module);
void bind_compare(nanobind::module_& module);
void bind_snapshot(nanobind::module_& module);

}  // namespace tbtrace::python
