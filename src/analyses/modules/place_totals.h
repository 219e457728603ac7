// Sums over trees of places. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyses/modules/work_places.h"

namespace tbtrace::analyses {

/// The work of each place and of all places below it. `parents`: by place, each lower than the
/// place; of the root itself.
std::vector<PlaceWork> totals_of(std::span<const Place> parents, std::span<const PlaceWork> work);

/// Places in the order of a tree: each followed by those below it; the root is first.
std::vector<Place> tree_order(std::span<const Place> parents);

/// Sums of `totals` by key, in which a place below another one with the same key does not count
/// again. `keys`: by place.
std::vector<PlaceWork> totals_by_key(std::span<const Place> parents,
                                     std::span<const PlaceWork> totals,
                                     std::span<const std::uint32_t> keys, std::size_t key_count);

}  // namespace tbtrace::analyses
