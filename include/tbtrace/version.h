// Which release this is.
// Constant; safe from any thread.
#pragma once

#include <string_view>

namespace tbtrace {

/// `MAJOR.MINOR.PATCH` of the library that is linked.
std::string_view version();

}  // namespace tbtrace
