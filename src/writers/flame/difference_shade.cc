#include "writers/flame/difference_shade.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "writers/tables/weight_text.h"

namespace tbtrace::writers {

int shade_of(const DifferenceNode& node, double whole_ns) {
  const double change =
      static_cast<double>(node.new_self_ns) - static_cast<double>(node.base_self_ns);
  // Without a base everything is new.
  const double share = whole_ns > 0 ? std::abs(change) / whole_ns : change == 0 ? 0 : 1;
  const auto steps = static_cast<int>(
      std::ranges::count_if(kShadeShares, [&](double least) { return share >= least; }));
  return kNoChangeShade + (change < 0 ? -steps : steps);
}

FrameSide side_of(const DifferenceNode& node) {
  if (node.in_base == node.in_new) return FrameSide::both;
  return node.in_base ? FrameSide::gone : FrameSide::added;
}

std::string change_text(std::int64_t change_ns) {
  if (change_ns == 0) return "0 ns";
  return (change_ns < 0 ? "-" : "+") + weight_text(std::abs(change_ns), "ns");
}

std::string share_of_whole(std::int64_t change_ns, double whole_ns) {
  const double percent = whole_ns > 0 ? 100 * static_cast<double>(change_ns) / whole_ns : 0;
  if (change_ns != 0 && std::abs(percent) < 0.005) return change_ns < 0 ? "> -0.01 %" : "< 0.01 %";
  return fmt::format("{:+.2f} %", percent);
}

}  // namespace tbtrace::writers
