#include "analyses/stacks/frame_noise.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "symbols/names/code_place.h"

namespace tbtrace::analyses {
namespace {

struct PassingFunctions {
  std::string_view file;  // the end of its path
  std::array<std::string_view, 3> names;
};

constexpr std::array<PassingFunctions, 3> kPassing = {{
    {"torch/nn/modules/module.py", {"_wrapped_call_impl", "_call_impl", "_slow_forward"}},
    {"torch/nn/modules/container.py", {"forward", "", ""}},
    {"torch/nn/modules/container/sequential.h", {"torch::nn::SequentialImpl::forward", "", ""}},
}};

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

}  // namespace

bool only_passes_on(std::string_view frame) {
  const CodePlace place = code_place(frame);
  if (place.function.empty()) return false;
  return std::any_of(kPassing.begin(), kPassing.end(), [&](const PassingFunctions& passing) {
    if (!place.file.ends_with(passing.file)) return false;
    const std::size_t before = place.file.size() - passing.file.size();
    if (before > 0 && place.file[before - 1] != '/') return false;
    return std::find(passing.names.begin(), passing.names.end(), place.function) !=
           passing.names.end();
  });
}

std::string without_addresses(std::string_view frame) {
  constexpr std::string_view kBefore = " at 0x";
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = frame.find(kBefore); at != std::string_view::npos;
       at = frame.find(kBefore, at + kBefore.size())) {
    const std::size_t digits = at + kBefore.size();
    const std::size_t end = std::min(frame.find_first_not_of(kHexDigits, digits), frame.size());
    if (end == digits) continue;
    text += frame.substr(from, at - from);
    from = end;
  }
  return text += frame.substr(from);
}

}  // namespace tbtrace::analyses
