#include "module.h"

#include <nanobind/nanobind.h>

#include <tbtrace/version.h>

#include "failures.h"
#include "table_methods.h"

NB_MODULE(_tbtrace, module) {
  namespace python = tbtrace::python;
  // A program that ends may still hold a Trace: Python does not take all its modules apart.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = TBTRACE_VERSION;
  python::bind_failures(module);
  python::bind_tables(module);
  python::bind_flame_graph(module);
  python::bind_summary(module);
  python::bind_report(module);
  python::bind_partial(module);  // a trace makes one
  python::bind_trace(module);
  python::bind_trace_set(module);
  python::bind_ranks(module);
  python::bind_diff(module);
  python::bind_compare(module);
  python::bind_convert(module);
  python::bind_rewrite(module);
  python::bind_snapshot(module);
  python::bind_table_list(module);
}
