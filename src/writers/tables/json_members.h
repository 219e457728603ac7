// The JSON members of summaries and event lists besides the rows: issues and links.
#pragma once

#include <string>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::writers {

inline constexpr std::string_view kOperatorSchema = "tbtrace.ops/1";

/// How often each issue was found.
std::string issues_json(const SourceReport& source);

/// How kernels were linked.
std::string links_json(const SourceReport& source);

}  // namespace tbtrace::writers
