// Lists of a pickle while they are filled, and when they are done.
// Owns its lists. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "snapshots/data.h"
#include "snapshots/pickle_value.h"

namespace tbtrace::snapshots {

/// What a list holds, as far as it is of use: values of one kind.
struct ListContent {
  bool is_empty = true;
  Kind of = Kind::none;                ///< `other` if kinds are mixed
  RowList rows;                        ///< of rows of the snapshot, and of lists
  std::uint32_t after = 0;             ///< the last of them, plus 1
  std::vector<std::uint32_t> numbers;  ///< of frames and texts
};

class OpenLists {
 public:
  static constexpr std::size_t kMost = 100'000;  // at a time

  /// nullopt if there are too many.
  std::optional<std::uint32_t> open();
  void append(std::uint32_t list, std::span<const Value> values);
  ListContent& operator[](std::uint32_t list) { return lists_[list]; }
  /// Empties the list; its number may be given to another one.
  void close(std::uint32_t list);

 private:
  std::deque<ListContent> lists_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tbtrace::snapshots
