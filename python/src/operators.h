// Operator summaries as Python asks for them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/operators.h>
#include <tbtrace/partial.h>

#include "arguments.h"

namespace tbtrace::python {

/// What `group_by` of operators() takes.
inline constexpr std::string_view kOperatorGroupings[] = {
    "name",   "shape",  "stack",  "overload_name", "module", "line",
    "device", "stream", "thread", "rank",          "step"};

/// `typing.Literal[...] | collections.abc.Sequence[...] | None` of these.
std::string operator_groupings_hint();

/// `group_by`: of kOperatorGroupings.
SummaryOptions summary_options(const std::optional<Names>& group_by, int group_by_stack_n,
                               const std::string& stack_source);

PartialOptions partial_options(int group_by_stack_n, const std::string& stack_source);

}  // namespace tbtrace::python
