#include "base/string_pool.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "base/hash.h"

namespace tbtrace {
namespace {

constexpr std::size_t kFirstTableSize = 1024;
constexpr std::size_t kChunkSize = std::size_t{64} << 10;

constexpr std::uint64_t kTagMask = 0xffffffff00000000;

}  // namespace

StringPool::StringPool() : seed_(random_seed()) {
  slots_.resize(kFirstTableSize, 0);
  mask_ = kFirstTableSize - 1;
  entries_.push_back({"", 0});
}

std::uint32_t StringPool::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint64_t hash = hash_bytes(text, seed_);
  const std::uint64_t tag = hash & kTagMask;
  // The slot comes from the upper half, too: only that half is kept for when the table grows.
  std::uint64_t slot = (hash >> 32) & mask_;
  while (slots_[slot] != 0) {
    if ((slots_[slot] & kTagMask) == tag) {
      const auto number = static_cast<std::uint32_t>(slots_[slot]);
      if ((*this)[number] == text) return number;
    }
    slot = (slot + 1) & mask_;
  }
  const std::uint32_t number = add(text);
  slots_[slot] = tag | number;
  if (entries_.size() * 2 > slots_.size()) grow_table();
  return number;
}

std::uint32_t StringPool::add(std::string_view text) {
  assert(text.size() <= std::numeric_limits<std::uint32_t>::max());
  byte_count_ += text.size();
  if (text.size() > free_size_) {
    const std::size_t size = std::max(kChunkSize, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    // A long string gets a chunk of its own; the rest of the current chunk stays in use.
    if (text.size() > kChunkSize / 4) {
      char* own = chunks_.back().get();
      std::memcpy(own, text.data(), text.size());
      entries_.push_back({own, static_cast<std::uint32_t>(text.size())});
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    free_ = chunks_.back().get();
    free_size_ = size;
  }
  std::memcpy(free_, text.data(), text.size());
  entries_.push_back({free_, static_cast<std::uint32_t>(text.size())});
  free_ += text.size();
  free_size_ -= text.size();
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

void StringPool::grow_table() {
  Column<std::uint64_t> old;
  old.swap(slots_);
  slots_.resize(old.size() * 2, 0);
  mask_ = slots_.size() - 1;
  for (const std::uint64_t entry : old) {
    if (entry == 0) continue;
    std::uint64_t slot = (entry >> 32) & mask_;
    while (slots_[slot] != 0) slot = (slot + 1) & mask_;
    slots_[slot] = entry;
  }
}

}  // namespace tbtrace
