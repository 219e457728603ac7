// Sums over trees of places. Pure functions. `Work`: what places did; it has `+=`, and begins as
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyses/modules/work_places.h"

namespace tbtrace::analyses {

/// The work of each place and of all places below it. `parents`: by place, each lower than the
/// place; of the root itself.
template <typename Work>
std::vector<Work> totals_of(std::span<const Place> parents, std::vector<Work> work) {
  for (std::size_t place = work.size(); place-- > 1;) work[parents[place]] += work[place];
  return work;
}

/// Places in the order of a tree: each followed by those below it; the root is first.
std::vector<Place> tree_order(std::span<const Place> parents);

/// Sums of `totals` by key, in which a place below another one with the same key does not count
/// again. `keys`: by place.
template <typename Work>
std::vector<Work> totals_by_key(std::span<const Place> parents, const std::vector<Work>& totals,
                                std::span<const std::uint32_t> keys, std::size_t key_count) {
  std::vector<Work> sums(key_count);
  std::vector<std::uint32_t> open(key_count, 0);  // places with the key on the way from the root
  std::vector<Place> way;
  for (const Place place : tree_order(parents)) {
    while (!way.empty() && way.back() != parents[place]) {
      --open[keys[way.back()]];
      way.pop_back();
    }
    const std::uint32_t key = keys[place];
    if (open[key] == 0) sums[key] += totals[place];
    ++open[key];
    way.push_back(place);
  }
  return sums;
}

/// By key: what its places did themselves.
template <typename Work>
std::vector<Work> own_by_key(const std::vector<Work>& work, std::span<const std::uint32_t> keys,
                             std::size_t key_count) {
  std::vector<Work> own(key_count);
  for (std::size_t place = 0; place < work.size(); ++place) own[keys[place]] += work[place];
  return own;
}

}  // namespace tbtrace::analyses
