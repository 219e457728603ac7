#include "writers/events/histogram_buckets.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

namespace tbtrace::writers {
namespace {

std::vector<double> make_tensorflow_edges() {
  std::vector<double> positive;
  double edge = 1e-12;
  while (edge < 1e20) {
    positive.push_back(edge);
    edge *= 1.1;
  }
  std::vector<double> edges;
  edges.reserve(2 * positive.size() + 1);
  std::transform(positive.rbegin(), positive.rend(), std::back_inserter(edges), std::negate());
  edges.push_back(0);
  edges.insert(edges.end(), positive.begin(), positive.end());
  return edges;
}

struct Counts {
  std::vector<double> edges;  // one more than counts
  std::vector<double> counts;
};

/// Joins groups of `count / max_bins` neighbours.
Counts joined(const Counts& all, std::size_t max_bins) {
  const std::size_t together = all.counts.size() / max_bins;
  Counts few;
  for (std::size_t first = 0; first < all.counts.size(); first += together) {
    const std::size_t end = std::min(first + together, all.counts.size());
    few.edges.push_back(all.edges[first]);
    double sum = 0;
    for (std::size_t bin = first; bin < end; ++bin) sum += all.counts[bin];
    few.counts.push_back(sum);
  }
  few.edges.push_back(all.edges.back());
  return few;
}

}  // namespace

std::span<const double> tensorflow_edges() {
  static const std::vector<double> edges = make_tensorflow_edges();
  return edges;
}

template <typename Number>
std::vector<Bucket> histogram_buckets(std::span<const Number> values, std::span<const double> edges,
                                      std::size_t max_bins) {
  Counts counts = {{edges.begin(), edges.end()}, std::vector<double>(edges.size() - 1)};
  double least = std::numeric_limits<double>::infinity();
  double greatest = -least;
  for (const Number number : values) {
    const auto value = static_cast<double>(number);
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
    if (value < edges.front() || value > edges.back()) continue;
    const auto above = std::upper_bound(edges.begin(), edges.end(), value);
    const auto bin = static_cast<std::size_t>(above - edges.begin()) - 1;
    ++counts.counts[std::min(bin, counts.counts.size() - 1)];
  }
  if (max_bins > 0 && counts.counts.size() > max_bins) counts = joined(counts, max_bins);
  return buckets_of_counts(least, greatest, std::span(counts.edges).subspan(1), counts.counts);
}

template std::vector<Bucket> histogram_buckets(std::span<const float>, std::span<const double>,
                                               std::size_t);
template std::vector<Bucket> histogram_buckets(std::span<const double>, std::span<const double>,
                                               std::size_t);

std::vector<Bucket> buckets_of_counts(double min, double max, std::span<const double> limits,
                                      std::span<const double> counts) {
  const auto has_some = [](double count) { return count > 0; };
  const auto first = std::find_if(counts.begin(), counts.end(), has_some);
  if (first == counts.end()) return {};
  const auto last = std::find_if(counts.rbegin(), counts.rend(), has_some).base();  // one after it
  const auto start = static_cast<std::size_t>(first - counts.begin());
  const auto end = static_cast<std::size_t>(last - counts.begin());
  std::vector<Bucket> buckets;
  buckets.reserve(end - start);
  for (std::size_t bin = start; bin < end; ++bin) {
    buckets.push_back({.left = bin == start ? min : limits[bin - 1],
                       .right = bin + 1 == end ? max : limits[bin],
                       .count = counts[bin]});
  }
  return buckets;
}

}  // namespace tbtrace::writers
