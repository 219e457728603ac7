#include "libtorch/operator_names.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include "base/hash.h"

namespace tbtrace::libtorch {

namespace {

/// Addresses in a table that is at most a quarter full.
struct Names {
  struct Slot {
    const char* text = nullptr;
    const recorder::Name* name = nullptr;
  };

  std::size_t operators = 0;
  std::size_t mask = 0;
  std::vector<Slot> slots;

  /// One product is enough: addresses are nobody's choice, and lie 16 bytes apart or more.
  std::size_t place(const char* text) const {
    return (reinterpret_cast<std::uintptr_t>(text) * hash_detail::kOddA >> 40) & mask;
  }
};

/// Tables are never freed: a thread may be looking at an old one.
std::atomic<const Names*> names = nullptr;
std::mutex loading;

}  // namespace

void load_operator_names() {
  const std::lock_guard lock(loading);
  static recorder::NameTable& texts = *new recorder::NameTable;
  auto& dispatcher = c10::Dispatcher::singleton();
  const std::vector<c10::OperatorName> all = dispatcher.getAllOpNames();
  const Names* const known = names.load();
  if (known != nullptr && known->operators == all.size()) return;

  auto* loaded = new Names;
  loaded->operators = all.size();
  std::size_t size = 1024;
  while (size < 4 * all.size()) size *= 2;
  loaded->mask = size - 1;
  loaded->slots.resize(size);
  for (const c10::OperatorName& name : all) {
    const auto found = dispatcher.findSchema(name);
    if (!found) continue;
    const std::string& text = found->schema().name();
    std::size_t at = loaded->place(text.c_str());
    while (loaded->slots[at].text != nullptr) at = (at + 1) & loaded->mask;
    loaded->slots[at] = {text.c_str(), texts.find(text)};
  }
  names.store(loaded, std::memory_order_release);
}

const recorder::Name* operator_name(const char* text) {
  const Names* const loaded = names.load(std::memory_order_acquire);
  if (loaded == nullptr) return nullptr;
  for (std::size_t at = loaded->place(text);; at = (at + 1) & loaded->mask) {
    const Names::Slot& slot = loaded->slots[at];
    if (slot.text == text) return slot.name;
    if (slot.text == nullptr) return nullptr;
  }
}

}  // namespace tbtrace::libtorch
