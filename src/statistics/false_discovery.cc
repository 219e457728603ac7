#include "statistics/false_discovery.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace tbtrace::statistics {

std::vector<double> adjusted_p_values(std::span<const double> p_values) {
  std::vector<double> adjusted(p_values.begin(), p_values.end());
  for (double& p : adjusted) {
    if (!(p >= 0 && p <= 1)) p = 1;
  }
  std::vector<std::size_t> by_p(adjusted.size());
  std::iota(by_p.begin(), by_p.end(), std::size_t{0});
  std::ranges::sort(by_p, [&](std::size_t one, std::size_t two) {
    return adjusted[one] != adjusted[two] ? adjusted[one] < adjusted[two] : one < two;
  });
  const auto count = static_cast<double>(by_p.size());
  double least = 1;
  for (std::size_t rank = by_p.size(); rank > 0; --rank) {
    double& p = adjusted[by_p[rank - 1]];
    least = std::min(least, p * count / static_cast<double>(rank));
    p = least;
  }
  return adjusted;
}

std::vector<char> rejected_at(std::span<const double> p_values, double q) {
  std::vector<char> rejected;
  rejected.reserve(p_values.size());
  for (const double p : adjusted_p_values(p_values)) rejected.push_back(p <= q ? 1 : 0);
  return rejected;
}

}  // namespace tbtrace::statistics
