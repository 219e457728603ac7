// The valid name that a misspelled one is nearest to. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <tbtrace/export.h>

namespace TBTRACE_EXPORT tbtrace {

/// The nearest of `names` if it is near enough that it may be meant, else empty. Hyphens,
/// underscores and case do not count, and a name that `word` is a part of is near: `sortby` is near
/// `sort-by`, `duration` near `duration_ns`.
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

/// ` (did you mean 'summary'?)` for an error message, or empty.
std::string suggestion(std::string_view word, std::span<const std::string_view> names);

}  // namespace tbtrace
