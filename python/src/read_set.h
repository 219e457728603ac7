// Reads a TraceSet from what Python's callers name: paths, bytes, file objects, Trace objects.
#pragma once

#include <nanobind/nanobind.h>

#include <tbtrace/arguments.h>

#include "python_trace.h"

namespace tbtrace::python {

struct SetReading {
  int workers = 0;  ///< 0: one per core
  bool strict = false;
  ArgumentSet arguments = {};
};

/// With the GIL, which reading releases. A Failure if nothing could be read, or if it was
/// interrupted.
PythonTraceSet read_set(nanobind::handle inputs, const SetReading& reading);

}  // namespace tbtrace::python
