// The JSON members of summaries and event lists besides the rows: issues and links.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tbtrace/trace.h>

namespace tbtrace::api {

inline constexpr std::string_view kOperatorSchema = "tbtrace.ops/1";

/// How often each issue was found in all traces.
std::string issues_json(std::span<const Trace* const> traces);

/// How kernels were linked in all traces.
std::string links_json(std::span<const Trace* const> traces);

}  // namespace tbtrace::api
