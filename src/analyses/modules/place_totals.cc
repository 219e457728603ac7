#include "analyses/modules/place_totals.h"

namespace tbtrace::analyses {

std::vector<PlaceWork> totals_of(std::span<const Place> parents, std::span<const PlaceWork> work) {
  std::vector<PlaceWork> totals(work.begin(), work.end());
  for (std::size_t place = totals.size(); place-- > 1;) totals[parents[place]] += totals[place];
  return totals;
}

std::vector<Place> tree_order(std::span<const Place> parents) {
  // The last child of each place, and the child before each child.
  constexpr Place kNone = UINT32_MAX;
  std::vector<Place> last(parents.size(), kNone);
  std::vector<Place> before(parents.size(), kNone);
  for (std::size_t place = 1; place < parents.size(); ++place) {
    before[place] = last[parents[place]];
    last[parents[place]] = static_cast<Place>(place);
  }
  std::vector<Place> order;
  order.reserve(parents.size());
  std::vector<Place> waiting = {StackTree::kRoot};
  while (!waiting.empty()) {
    const Place place = waiting.back();
    waiting.pop_back();
    order.push_back(place);
    for (Place child = last[place]; child != kNone; child = before[child]) waiting.push_back(child);
  }
  return order;
}

std::vector<PlaceWork> totals_by_key(std::span<const Place> parents,
                                     std::span<const PlaceWork> totals,
                                     std::span<const std::uint32_t> keys, std::size_t key_count) {
  std::vector<PlaceWork> sums(key_count);
  std::vector<std::uint32_t> open(key_count, 0);  // places with the key on the way from the root
  std::vector<Place> way;
  for (const Place place : tree_order(parents)) {
    while (!way.empty() && way.back() != parents[place]) {
      --open[keys[way.back()]];
      way.pop_back();
    }
    const std::uint32_t key = keys[place];
    if (open[key] == 0) {
      sums[key] += totals[place];
    }
    ++open[key];
    way.push_back(place);
  }
  return sums;
}

}  // namespace tbtrace::analyses
