// Operator summaries as Python asks for them.
#pragma once

#include <optional>
#include <string>

#include <tbtrace/operators.h>
#include <tbtrace/partial.h>

#include "arguments.h"

namespace tbtrace::python {

/// `group_by`: of 'shape', 'stack' and 'overload_name'.
SummaryOptions summary_options(const std::optional<Names>& group_by, int group_by_stack_n,
                               const std::string& stack_source);

PartialOptions partial_options(int group_by_stack_n, const std::string& stack_source);

}  // namespace tbtrace::python
