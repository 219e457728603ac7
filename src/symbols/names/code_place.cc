#include "symbols/names/code_place.h"

namespace tbtrace {

CodePlace code_place(std::string_view text) {
  const std::size_t close = text.find("): ");
  if (close == std::string_view::npos) return {};
  const std::size_t open = text.substr(0, close).find_last_not_of("0123456789");
  if (open == std::string_view::npos || text[open] != '(' || open + 1 == close) return {};
  return {text.substr(0, open), text.substr(open + 1, close - open - 1), text.substr(close + 3)};
}

}  // namespace tbtrace
