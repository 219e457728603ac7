// A place in source code, as profilers print it: `model.py(12): forward`.
// Any text is accepted; results are views into it.
#pragma once

#include <string_view>

namespace tbtrace {

/// All parts are empty if the text is not of this form: a file, a number in parentheses, a
/// function.
struct CodePlace {
  std::string_view file;
  std::string_view line;  ///< digits
  std::string_view function;
};

CodePlace code_place(std::string_view text);

}  // namespace tbtrace
