// What Python shows of a trace itself, and of a set: the repr, and the page in a notebook.
#pragma once

#include <string>
#include <vector>

#include "python_trace.h"

namespace tbtrace::python {

/// `<tbtrace.Trace: step.json, rank 0 of 2, 1 step, 28 events>`
std::string trace_repr(const PythonTrace& trace);

/// A table of facts: where and when it was recorded, how much there is, and what is wrong with it.
std::string trace_html(const PythonTrace& named);

/// Problems of a file, a dictionary each.
nanobind::list issue_list(const std::vector<Issue>& issues);

/// A row per trace, and why others could not be read.
std::string trace_set_html(const PythonTraceSet& set);

}  // namespace tbtrace::python
