// Sorts rows by a 64-bit key; rows with equal keys keep their order.
// Fewer than 2^32 rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/column.h"

namespace tbtrace {

/// Row numbers by ascending key. Linear time if key and row together fit into 64 bits, as the
/// nanoseconds of a recording do: a radix sort over the bits in which keys differ.
void stable_order(std::span<const std::int64_t> keys, std::uint32_t* rows, std::size_t threads);

/// The same as a column of ids.
template <typename Id>
Column<Id> stable_order(std::span<const std::int64_t> keys, std::size_t threads) {
  static_assert(sizeof(Id) == sizeof(std::uint32_t));
  Column<Id> order;
  stable_order(keys, reinterpret_cast<std::uint32_t*>(order.extend(keys.size())), threads);
  return order;
}

}  // namespace tbtrace
