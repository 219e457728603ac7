// What the frames of a stack hold that says nothing about the program.
// Pure functions. Any bytes are accepted as a name.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::analyses {

/// Whether a function does nothing but call the one that the reader is looking for: the call of a
/// module (`torch/nn/modules/module.py(1518): _wrapped_call_impl`), and `forward` of a container
/// (`torch/nn/modules/container.py(215): forward`, in C++ that of `torch::nn::Sequential`).
bool only_passes_on(std::string_view frame);

/// Without the addresses of objects: `<built-in method f of X object at 0x7f20>` is
/// `<built-in method f of X object>`.
std::string without_addresses(std::string_view frame);

}  // namespace tbtrace::analyses
