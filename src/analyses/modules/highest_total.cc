#include "analyses/modules/highest_total.h"

#include <algorithm>
#include <limits>

namespace tbtrace::analyses {

HighestTotal::HighestTotal(std::span<const MemoryPoint> curve, std::int64_t before)
    : curve_(curve), before_(before), above_(curve.size(), before) {
  for (std::size_t node = curve.size(); node-- > 1;) above_[node] = highest(2 * node, 2 * node + 2);
}

/// Of the nodes from `first` to before `last`, which are of one level or leaves next to it.
std::int64_t HighestTotal::highest(std::size_t first, std::size_t last) const {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::min();
  for (; first < last; ++first) {
    const bool is_leaf = first >= curve_.size();
    bytes =
        std::max(bytes, is_leaf ? curve_[first - curve_.size()].allocated_bytes : above_[first]);
  }
  return bytes;
}

std::size_t HighestTotal::first_from(std::int64_t time_ns) {
  const auto begin = next_ > 0 && curve_[next_ - 1].at_ns >= time_ns
                         ? curve_.begin()
                         : curve_.begin() + static_cast<std::ptrdiff_t>(next_);
  const auto found =
      std::ranges::lower_bound(begin, curve_.end(), time_ns, {}, &MemoryPoint::at_ns);
  return static_cast<std::size_t>(found - curve_.begin());
}

std::int64_t HighestTotal::between(std::int64_t start_ns, std::int64_t end_ns) {
  next_ = first_from(start_ns);
  std::int64_t bytes = next_ == 0 ? before_ : curve_[next_ - 1].allocated_bytes;
  const auto end = std::ranges::upper_bound(curve_.begin() + static_cast<std::ptrdiff_t>(next_),
                                            curve_.end(), end_ns, {}, &MemoryPoint::at_ns);
  std::size_t first = next_ + curve_.size();
  std::size_t last = static_cast<std::size_t>(end - curve_.begin()) + curve_.size();
  for (; first < last; first /= 2, last /= 2) {
    if (first % 2 == 1) {
      bytes = std::max(bytes, highest(first, first + 1));
      ++first;
    }
    if (last % 2 == 1) {
      --last;
      bytes = std::max(bytes, highest(last, last + 1));
    }
  }
  return bytes;
}

}  // namespace tbtrace::analyses
