#include "libtorch/record/script_context.h"

#include <algorithm>
#include <vector>

#include <torch/csrc/jit/runtime/interpreter.h>

namespace tbtrace::libtorch {

std::string script_stack() {
  std::string text;
  for (const torch::jit::StackEntry& entry : torch::jit::currentCallstack()) {
    const auto& source = entry.range.source();
    if (!source || !source->filename()) continue;
    const std::size_t line =
        source->starting_line_no() + source->lineno_for_offset(entry.range.start());
    std::string frame = *source->filename() + "(" + std::to_string(line) + "): " + entry.filename;
    std::replace(frame.begin(), frame.end(), ';', ',');  // which parts frames
    text += frame + ";";
  }
  return text;
}

std::string script_modules() {
  std::string text;
  for (const std::string& module : torch::jit::currentModuleHierarchy()) {
    text += module + ".";
  }
  return text;
}

}  // namespace tbtrace::libtorch
