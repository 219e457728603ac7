#include "analyses/modules/place_totals.h"

namespace tbtrace::analyses {

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

}  // namespace tbtrace::analyses
