// Where TorchScript is, as texts, by torch's rules of how they are written.
// For the calling thread. Outside TorchScript, and for code without a file, they are empty.
#pragma once

#include <string>

namespace tbtrace::libtorch {

/// `file(line): function;` of each frame, innermost first.
std::string script_stack();

/// `TOP(Net)::forward.block(Block)::forward.`, outermost first.
std::string script_modules();

}  // namespace tbtrace::libtorch
