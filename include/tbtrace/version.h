// The release number. The build takes the numbers from here.
// Constant; safe from any thread.
#pragma once

#include <string_view>

#include <tbtrace/export.h>

// The version of these headers.
#define TBTRACE_VERSION_MAJOR 0
#define TBTRACE_VERSION_MINOR 1
#define TBTRACE_VERSION_PATCH 0
#define TBTRACE_VERSION "0.1.0"

namespace TBTRACE_EXPORT tbtrace {

/// `MAJOR.MINOR.PATCH` of the library that is linked.
std::string_view version();

}  // namespace tbtrace
