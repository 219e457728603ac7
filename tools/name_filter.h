// Selects names by a regular expression.
// A filter owns its expression and may be copied. One thread at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::tools {

/// Accepts a name if the expression matches anywhere in it. RE2's syntax. Time is linear in the
/// length of a name, and memory is bounded, so neither the expression nor the names of a trace can
/// stall the program. A wrong expression is a failure with RE2's reason.
Result<std::function<bool(std::string_view name)>> name_filter(const std::string& expression);

}  // namespace tbtrace::tools
