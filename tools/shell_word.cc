#include "shell_word.h"

namespace tbtrace::tools {

std::string shell_word(std::string_view text) {
  std::string word = "'";
  for (const char c : text) {
    word += c;
    if (c == '\'') word += "\\''";
  }
  return word + "'";
}

}  // namespace tbtrace::tools
