// The order of rows by a 64-bit key, equal keys in the order of the rows.
// Pure function. Fewer than 2^32 rows.
#pragma once

#include <cstdint>
#include <span>

#include "base/column.h"

namespace tbtrace {

/// Row numbers by ascending key. Linear in the rows: a radix sort that skips the bits that all keys
/// share, at most 11 bits a pass.
Column<std::uint32_t> stable_order(std::span<const std::int64_t> keys);

}  // namespace tbtrace
