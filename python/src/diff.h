// A comparison as Python's object.
#pragma once

#include <memory>

#include <tbtrace/diff.h>

namespace tbtrace::python {

struct PythonDiff {
  std::shared_ptr<const Diff> diff;
};

}  // namespace tbtrace::python
