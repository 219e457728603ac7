// The first page about traces as Python's object.
#pragma once

#include <memory>
#include <vector>

#include <tbtrace/trace_summary.h>

namespace tbtrace::python {

struct PythonSummary {
  std::shared_ptr<const std::vector<TraceSummary>> traces;
};

}  // namespace tbtrace::python
