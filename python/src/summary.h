// The first page about traces as Python's object.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tbtrace/arguments.h>
#include <tbtrace/stragglers.h>
#include <tbtrace/summary.h>

namespace tbtrace::python {

/// The arguments that summary() cannot do without. Labels of graphs only name more modules.
inline constexpr ArgumentSet kSummaryNeeds =
    (kSummaryArguments | kOperatorArguments) - ArgumentSet{ArgumentGroup::graphs};

struct PythonSummary {
  std::shared_ptr<const std::vector<TraceSummary>> traces;
  std::optional<StragglerResult> stragglers = {};  ///< of the job whose ranks the traces are
};

}  // namespace tbtrace::python
