#include "analyses/attribution/range_places.h"

#include <vector>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

WorkPlaces find_places(const Trace& trace, const ForwardOperators& forward,
                       const PlaceIn& place_in) {
  const CallTree& tree = call_tree_of(trace);
  WorkPlaces found;
  found.place.resize(trace.events().size(), StackTree::kRoot);
  found.is_backward.resize(trace.events().size(), 0);
  found.accumulates.resize(trace.events().size(), 0);
  std::vector<Place> last_node(trace.tracks().size(), StackTree::kRoot);  // by thread
  for (const EventId range : tree.ranges()) {
    const EventId parent = tree.parent(range);
    Place around = StackTree::kRoot;
    bool backward = false;
    bool accumulates = accumulates_gradient(trace, range);
    if (parent != EventId::none) {
      around = found.place[index(parent)];
      backward = found.is_backward[index(parent)] != 0;
    }
    Place& last = last_node[index(trace.events().track(range))];
    if (accumulates) {
      around = last;
      backward = true;
    } else if (is_backward(trace, range)) {
      // The creator started before, so it has its place already.
      const EventId creator = forward.of(range);
      if (creator != EventId::none) around = found.place[index(creator)];
      backward = true;
      last = around;
    }
    found.place[index(range)] = place_in(around, range, backward);
    found.is_backward[index(range)] = backward ? 1 : 0;
    accumulates = accumulates || (parent != EventId::none && found.accumulates[index(parent)] != 0);
    found.accumulates[index(range)] = accumulates ? 1 : 0;
  }
  return found;
}

}  // namespace tbtrace::analyses
