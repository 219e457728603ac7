#include "recorder/name_table.h"

#include <utility>

#include "base/hash.h"

namespace tbtrace::recorder {

const Name* NameTable::find(std::string_view text) {
  if (names_.size() * 2 >= slots_.size()) grow();
  const std::uint64_t hash = hash_bytes(text, kProcessSeed.value);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].name != nullptr; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && slots_[at].name->text == text) return slots_[at].name;
  }
  names_.push_back({std::string(text)});
  slots_[at] = {hash, &names_.back()};
  return &names_.back();
}

const Name* NameTable::add(std::string_view text, Collective collective) {
  names_.push_back({std::string(text), std::make_unique<const Collective>(std::move(collective))});
  return &names_.back();
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 256 : slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.name == nullptr) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].name != nullptr) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace tbtrace::recorder
