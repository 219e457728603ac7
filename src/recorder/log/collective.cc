#include "recorder/log/collective.h"

#include <cstddef>

namespace tbtrace::recorder {

std::string shown_list(std::span<const std::int64_t> numbers) {
  constexpr std::size_t kMost = 30;
  std::string text = "[";
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    if (at > 0) text += ", ";
    if (numbers.size() > kMost && at == kMost - 1) {
      text += "..., ";
      at = numbers.size() - 1;
    }
    text += std::to_string(numbers[at]);
  }
  return text + "]";
}

}  // namespace tbtrace::recorder
