#include "recorder/window/call_stacks.h"

#include <algorithm>
#include <optional>

#include "symbols/addresses/frame_text.h"

namespace tbtrace::recorder {

std::uint32_t CallStacks::add(std::string_view script_stack, std::span<void* const> addresses) {
  if (addresses.empty() && script_stack.empty()) return 0;
  std::string key(reinterpret_cast<const char*>(addresses.data()), addresses.size_bytes());
  key += script_stack;
  const auto [found, is_new] = numbers_.try_emplace(std::move(key), 0);
  if (!is_new) return found->second;
  std::string stack(script_stack);
  // The recorder's own frames are innermost, up to those of LibTorch that called it; a stripped
  // program does not tell them from its own by name.
  const auto called = std::find_if(addresses.begin(), addresses.end(),
                                   [&](void* address) { return frames(address).is_libtorchs; });
  const auto first = called == addresses.end() ? addresses.begin() : called;
  for (auto address = first; address != addresses.end(); ++address) {
    stack += frames(*address).text;
  }
  if (stack.empty()) return 0;
  found->second = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(std::move(stack));
  return found->second;
}

std::vector<symbols::CodePlace> CallStacks::places(void* return_address) const {
  if (of_other_ == nullptr) return symbols::code_places(return_address);
  const auto address = reinterpret_cast<std::uintptr_t>(return_address);
  const MappedFile* const file = of_other_->at(address);
  if (file == nullptr) return {};
  symbols::CodePlace place;
  place.object = file->path;
  place.offset = address - file->begin + file->offset;
  return {place};
}

/// Of one address; several where functions were inlined.
const CallStacks::Frames& CallStacks::frames(void* return_address) {
  const auto [found, is_new] = frames_.try_emplace(return_address);
  if (!is_new) return found->second;
  for (const symbols::CodePlace& place : places(return_address)) {
    if (symbols::is_libtorch(place)) found->second.is_libtorchs = true;
    if (const std::optional<std::string> frame = symbols::frame_text(place)) {
      found->second.text += *frame + ";";
    }
  }
  return found->second;
}

}  // namespace tbtrace::recorder
