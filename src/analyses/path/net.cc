#include "analyses/path/net.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbtrace::analyses {

PathNet::PathNet(std::vector<std::int64_t> times, std::vector<PathEdge> edges)
    : times_(std::move(times)), edges_(std::move(edges)) {
  sort_edges();
  order_points();
}

void PathNet::sort_edges() {
  first_.assign(size() + 1, 0);
  for (const PathEdge& edge : edges_) ++first_[edge.to + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  std::vector<PathEdge> sorted(edges_.size());
  for (const PathEdge& edge : edges_) sorted[next[edge.to]++] = edge;
  edges_ = std::move(sorted);
}

/// Edges that would close a circle contradict what was found before, and are left out.
void PathNet::order_points() {
  std::vector<std::uint32_t> missing(size(), 0);
  std::vector<std::uint32_t> first(size() + 1, 0);
  for (const PathEdge& edge : edges_) {
    ++missing[edge.to];
    ++first[edge.from + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<PathNode> next_points(edges_.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const PathEdge& edge : edges_) next_points[next[edge.from]++] = edge.to;
  order_.reserve(size());
  for (PathNode node = 0; node < size(); ++node) {
    if (missing[node] == 0) order_.push_back(node);
  }
  for (std::size_t at = 0; at < order_.size(); ++at) {
    for (std::uint32_t place = first[order_[at]]; place < first[order_[at] + 1]; ++place) {
      if (--missing[next_points[place]] == 0) order_.push_back(next_points[place]);
    }
  }
  had_circle_ = order_.size() != size();
  if (!had_circle_) return;
  // By time: an edge that leads back in this order is one too many.
  order_.resize(size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, [&](PathNode node) { return time(node); });
  std::vector<std::uint32_t> place_of(size());
  for (std::uint32_t place = 0; place < order_.size(); ++place) place_of[order_[place]] = place;
  std::erase_if(edges_,
                [&](const PathEdge& edge) { return place_of[edge.from] >= place_of[edge.to]; });
  sort_edges();
}

}  // namespace tbtrace::analyses
