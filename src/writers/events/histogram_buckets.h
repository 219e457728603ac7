// Histogram buckets, as torch's SummaryWriter and TensorBoard's loader together create them:
// torch.utils.tensorboard counts values between edges and joins buckets; tensorboard/data_compat.py
// removes empty ones at both ends and sets the outermost edges to the least and the greatest value.
// Pure functions, any thread. Values that are not finite are left out; edges are finite.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tbtrace::writers {

struct Bucket {
  double left = 0;
  double right = 0;
  double count = 0;

  bool operator==(const Bucket&) const = default;
};

/// Edges that grow by 10 % from 1e-12 up to 1e20, on both sides of 0.
std::span<const double> tensorflow_edges();

/// Counts `values` in the buckets between ascending `edges`; the last bucket includes its right
/// edge. At most about `max_bins` buckets, if that is not 0. Empty if no value is between the
/// edges.
template <typename Number>
std::vector<Bucket> histogram_buckets(std::span<const Number> values, std::span<const double> edges,
                                      std::size_t max_bins);

/// Buckets from counts and their right ends. Empty if all counts are 0.
std::vector<Bucket> buckets_of_counts(double min, double max, std::span<const double> limits,
                                      std::span<const double> counts);

}  // namespace tbtrace::writers
