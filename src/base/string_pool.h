// One copy of each distinct string of a trace, named by a small number.
// The pool owns the bytes; a view that it returns lives as long as the pool and never moves.
// One writer, or any number of readers. Strings may hold any bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/column.h"

namespace tbtrace {

/// Numbers strings in the order of their first appearance; number 0 is the empty string.
///
///   slot  = upper 32 bits of the hash | 32 bits of string number   (0 = free slot)
///   entry = address and length of the bytes
///
/// The table is seeded at random, so that nobody can prepare names that all fall into one slot.
class StringPool {
 public:
  StringPool();
  StringPool(StringPool&&) noexcept = default;
  StringPool& operator=(StringPool&&) noexcept = default;

  /// The number of `text`; equal texts give equal numbers. Longer than 4 GiB is not allowed.
  std::uint32_t intern(std::string_view text);

  std::string_view operator[](std::uint32_t number) const {
    const Entry& entry = entries_[number];
    return {entry.data, entry.size};
  }

  /// How many distinct strings there are, the empty one included.
  std::size_t size() const { return entries_.size(); }
  /// How many bytes they have together.
  std::size_t byte_count() const { return byte_count_; }

 private:
  struct Entry {
    const char* data;
    std::uint32_t size;
  };

  std::uint32_t add(std::string_view text);
  void grow_table();

  std::uint64_t seed_;
  std::uint64_t mask_ = 0;
  Column<std::uint64_t> slots_;
  Column<Entry> entries_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;
  std::size_t free_size_ = 0;
  std::size_t byte_count_ = 0;
};

}  // namespace tbtrace
