// Which of many hypotheses to reject, if some of those that are rejected may be true.
// Pure functions; any thread.
#pragma once

#include <span>
#include <vector>

namespace tbtrace::statistics {

/// p-values adjusted by Benjamini and Hochberg, "Controlling the false discovery rate", Journal of
/// the Royal Statistical Society B 57 (1995), in the order of `p_values`: of n, the k-th smallest
/// becomes the least of p * n / rank over all ranks from k on, at most 1. Reject those up to q: of
/// what is rejected, at most a share of q is true on average. What is not a p-value (NaN, below 0,
/// above 1) counts as 1.
std::vector<double> adjusted_p_values(std::span<const double> p_values);

/// 1 for each p-value whose adjusted one is at most `q`, else 0; none for a `q` of NaN.
std::vector<char> rejected_at(std::span<const double> p_values, double q = 0.01);

}  // namespace tbtrace::statistics
