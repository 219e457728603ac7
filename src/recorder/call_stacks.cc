#include "recorder/call_stacks.h"

#include <algorithm>
#include <optional>

#include "symbols/code_places.h"
#include "symbols/frame_text.h"

namespace tbtrace::recorder {

std::uint32_t CallStacks::add(const BeginRecord& record) {
  if (record.stack.empty() && record.script_stack == nullptr) return 0;
  std::string key(reinterpret_cast<const char*>(record.stack.data()), record.stack.size_bytes());
  if (record.script_stack != nullptr) key += record.script_stack->text;
  const auto [found, is_new] = numbers_.try_emplace(std::move(key), 0);
  if (!is_new) return found->second;
  std::string stack;
  if (record.script_stack != nullptr) stack = record.script_stack->text;
  // The recorder's own frames are innermost, up to those of LibTorch that called it; a stripped
  // program does not tell them from its own by name.
  const auto called = std::find_if(record.stack.begin(), record.stack.end(),
                                   [&](void* address) { return frames(address).is_libtorchs; });
  const auto first = called == record.stack.end() ? record.stack.begin() : called;
  for (auto address = first; address != record.stack.end(); ++address) {
    stack += frames(*address).text;
  }
  if (stack.empty()) return 0;
  found->second = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(std::move(stack));
  return found->second;
}

/// Of one address; several where functions were inlined.
const CallStacks::Frames& CallStacks::frames(void* return_address) {
  const auto [found, is_new] = frames_.try_emplace(return_address);
  if (!is_new) return found->second;
  for (const symbols::CodePlace& place : symbols::code_places(return_address)) {
    if (symbols::is_libtorch(place)) found->second.is_libtorchs = true;
    if (const std::optional<std::string> frame = symbols::frame_text(place)) {
      found->second.text += *frame + ";";
    }
  }
  return found->second;
}

}  // namespace tbtrace::recorder
