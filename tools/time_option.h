// Times as people write them.
#pragma once

#include <optional>
#include <string_view>

namespace tbtrace::tools {

/// `30s`, `500ms`, `20us`, `2min` or `1.5`, which are seconds; not negative.
std::optional<double> seconds_of(std::string_view text);

}  // namespace tbtrace::tools
