// The ranges in which a program waits for its data loader.
#pragma once

#include <string_view>

namespace tbtrace::analyses {

/// `enumerate(DataLoader)#... .__next__`, `enumerate(DataPipe)#...`.
constexpr bool is_data_loading(std::string_view name) {
  return (name.starts_with("enumerate(DataLoader)#") && name.ends_with(".__next__")) ||
         name.starts_with("enumerate(DataPipe)#");
}

}  // namespace tbtrace::analyses
