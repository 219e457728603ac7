#include "snapshots/bands.h"

#include <algorithm>

namespace tbtrace::snapshots {
namespace {

/// Those that are shown, ascending: with 0 and the end.
std::vector<Moment> shown_moments(const DeviceReplay& replay) {
  const Moment end = replay.end();
  std::vector<Moment> moments = {0};
  if (end <= kMostMoments) {
    for (Moment moment = 1; moment <= end; ++moment) moments.push_back(moment);
    return moments;
  }
  const std::vector<std::int64_t> curve = replay.allocated_curve();
  for (std::size_t part = 0; part < kMostMoments; ++part) {
    const auto from = static_cast<std::ptrdiff_t>(part * end / kMostMoments);
    const auto to = static_cast<std::ptrdiff_t>((part + 1) * end / kMostMoments);
    const auto most = std::max_element(curve.begin() + from, curve.begin() + to);
    moments.push_back(static_cast<Moment>(most - curve.begin()) + 1);
  }
  if (moments.back() != end) moments.push_back(end);
  return moments;
}

/// The places in `moments` at which an allocation is alive: from the first to before the second.
struct Lifetime {
  std::size_t from = 0;
  std::size_t to = 0;
};
Lifetime lifetime(const Allocation& allocation, const std::vector<Moment>& moments) {
  const auto place = [&](std::uint32_t entry) {
    return static_cast<std::size_t>(std::ranges::upper_bound(moments, entry) - moments.begin());
  };
  return {allocation.start == kNone ? 0 : place(allocation.start),
          allocation.freed == kNone ? moments.size() : place(allocation.freed)};
}

/// By group: what it held at the peak, or on average if that is more.
std::vector<double> weights_of(const DeviceReplay& replay, Grouping& grouping,
                               const std::vector<Moment>& moments) {
  struct Sums {
    double at_peak = 0;
    double area = 0;
  };
  std::vector<Sums> sums;
  for (const Allocation& allocation : replay.allocations()) {
    const std::uint32_t number = grouping.number(allocation);
    if (sums.size() <= number) sums.resize(number + 1);
    const auto bytes = static_cast<double>(replay.size(allocation));
    const Lifetime alive = lifetime(allocation, moments);
    if (alive.to > alive.from)
      sums[number].area += bytes * static_cast<double>(alive.to - alive.from);
    if (DeviceReplay::is_alive(allocation, replay.peak())) sums[number].at_peak += bytes;
  }
  std::vector<double> weights(grouping.count(), 0);
  for (std::size_t number = 0; number < sums.size(); ++number) {
    weights[number] =
        std::max(sums[number].at_peak, sums[number].area / static_cast<double>(moments.size()));
  }
  return weights;
}

}  // namespace

Bands bands_of(const DeviceReplay& replay, Grouping& grouping) {
  Bands result;
  result.moments = shown_moments(replay);
  const std::vector<double> weights = weights_of(replay, grouping, result.moments);
  std::vector<std::uint32_t> order;
  for (std::uint32_t number = 0; number < weights.size(); ++number) {
    if (weights[number] > 0) order.push_back(number);
  }
  std::ranges::sort(order, [&](std::uint32_t one, std::uint32_t other) {
    return weights[one] != weights[other] ? weights[one] > weights[other]
                                          : grouping.key(one) < grouping.key(other);
  });
  const bool has_others = order.size() > kMostBands;
  if (has_others) order.resize(kMostBands - 1);
  std::vector<std::size_t> band_of(weights.size(), order.size());
  for (std::size_t band = 0; band < order.size(); ++band) band_of[order[band]] = band;
  const std::size_t count = order.size() + (has_others ? 1 : 0);
  std::vector<std::vector<std::int64_t>> bytes(
      order.size() + 1, std::vector<std::int64_t>(result.moments.size() + 1, 0));
  for (const Allocation& allocation : replay.allocations()) {
    const Lifetime alive = lifetime(allocation, result.moments);
    if (alive.from >= alive.to) continue;
    std::vector<std::int64_t>& of_band = bytes[band_of[grouping.number(allocation)]];
    of_band[alive.from] += replay.size(allocation);
    of_band[alive.to] -= replay.size(allocation);
  }
  for (std::size_t band = 0; band < count; ++band) {
    std::int64_t total = 0;
    bytes[band].pop_back();
    for (std::int64_t& at : bytes[band]) at = total += at;
    result.bands.push_back(
        {band < order.size() ? std::optional(order[band]) : std::nullopt, std::move(bytes[band])});
  }
  return result;
}

std::vector<Piece> pieces_of(const DeviceReplay& replay, const ReservedMemory& memory,
                             Moment moment) {
  std::vector<Piece> pieces;
  std::uint64_t used_to = 0;  // blocks may reach into the next range
  for (std::uint32_t number = 0; number < memory.ranges.size(); ++number) {
    const ReservedRange& range = memory.ranges[number];
    const auto end = range.address + static_cast<std::uint64_t>(range.size);
    auto free_from =
        static_cast<std::int64_t>(std::clamp(used_to, range.address, end) - range.address);
    const auto add_gap = [&](std::int64_t to) {
      if (to > free_from) pieces.push_back({number, free_from, to - free_from});
      free_from = std::max(free_from, to);
    };
    for (const std::uint32_t each : memory.allocations[number]) {
      const Allocation& allocation = replay.allocations()[each];
      const auto offset = static_cast<std::int64_t>(replay.address(allocation) - range.address);
      const std::int64_t whole = block_bytes(replay, allocation);
      const std::int64_t size = std::min(whole, range.size - offset);
      used_to = std::max(used_to, replay.address(allocation) + static_cast<std::uint64_t>(whole));
      add_gap(offset);
      pieces.push_back(
          {number, offset, size,
           replay.is_pending(allocation, moment) ? PieceState::pending : PieceState::allocated,
           each});
      free_from = std::max(free_from, offset + size);
    }
    add_gap(range.size);
  }
  return pieces;
}

}  // namespace tbtrace::snapshots
