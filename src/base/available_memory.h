// Whether memory is available, for libraries that fail without saying so.
#pragma once

#include <cstddef>

namespace tbtrace {

bool is_there_memory(std::size_t bytes);

}  // namespace tbtrace
