// The names of the members of a JSON object of which only the start is known.
#pragma once

#include <string_view>
#include <vector>

namespace tbtrace::readers {

/// The names at the first level, as they stand in the text, as far as it goes; none if it is not an
/// object. At most 64, which is more than tell kinds of files apart.
std::vector<std::string_view> member_names(std::string_view start);

}  // namespace tbtrace::readers
