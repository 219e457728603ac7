#include "recorder/log/name_table.h"

#include <new>
#include <utility>

#include "base/hash.h"
#include "recorder/process/never_destroyed.h"

namespace tbtrace::recorder {

NameTable::~NameTable() {
  for (const std::atomic<Name*>& block : blocks_) delete[] block.load();
}

NameNumber NameTable::find(std::string_view text, std::string_view overload) {
  if (size_ * 2 >= slots_.size()) grow();
  const std::uint64_t hash = hash_bytes(overload, hash_bytes(text, kProcessSeed.value));
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].name != NameNumber::none; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    const Name& name = (*this)[slots_[at].name];
    if (name.text == text && name.overload == overload) return slots_[at].name;
  }
  const NameNumber number = add(Name{.text = std::string(text), .overload = std::string(overload)});
  slots_[at] = {hash, number};
  return number;
}

NameNumber NameTable::add(std::string_view text, Collective collective) {
  Name name{.text = std::string(text)};
  name.collective = std::make_unique<const Collective>(std::move(collective));
  return add(std::move(name));
}

NameNumber NameTable::add(Name name) {
  const std::size_t block = block_of(size_);
  if (block >= kBlocks) throw std::bad_alloc();
  Name* names = blocks_[block].load(std::memory_order_relaxed);
  if (names == nullptr) {
    names = new Name[kFirst << block];
    blocks_[block].store(names, std::memory_order_release);
  }
  Name& added = names[size_ - first_of(block)] = std::move(name);
  const auto number = static_cast<NameNumber>(++size_);
  if (listener_ != nullptr) listener_(number, added);
  return number;
}

void NameTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 2 * kFirst : slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.name == NameNumber::none) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].name != NameNumber::none) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

NameTable& process_names() {
  static NeverDestroyed<NameTable> names;
  return *names;
}

}  // namespace tbtrace::recorder
