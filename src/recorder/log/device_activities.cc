#include "recorder/log/device_activities.h"

#include "base/hash.h"

namespace tbtrace::recorder {

std::size_t hash_of(const DevicePlace& place) {
  const auto word = [](std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  };
  std::uint64_t hash = hash_integer(place.graph_node, place.channel_type);
  hash = hash_integer(word(place.graph, place.device), hash);
  hash = hash_integer(word(place.context, place.stream), hash);
  return hash_integer(place.channel, hash);
}

/// Many activities of one stream follow each other.
std::uint32_t DeviceActivities::row_of(const DevicePlace& place) {
  if (!places_.empty() && places_[last_place_] == place) return last_place_;
  const auto known = place_rows_.find(place);
  if (known != place_rows_.end()) return last_place_ = known->second;
  const auto row = static_cast<std::uint32_t>(places_.size());
  places_.push_back(place);
  place_rows_.emplace(place, row);
  return last_place_ = row;
}

/// Where memory runs out, the rows stay what they were.
void DeviceActivities::push_back(const DeviceActivity& activity) {
  std::uint32_t detail = activity.launch;
  if (activity.kind != DeviceActivityKind::kernel) {
    detail = static_cast<std::uint32_t>(transfers_.size());
    transfers_.push_back(activity.transfer);
  }
  const std::uint32_t place = row_of(activity.place);
  rows_.push_back({.start_ticks = activity.start_ticks,
                   .end_ticks = activity.end_ticks,
                   .correlation = activity.correlation,
                   .place = place,
                   .detail = detail,
                   .kind = activity.kind});
}

DeviceActivity DeviceActivities::operator[](std::size_t row) const {
  const Row& packed = rows_[row];
  DeviceActivity activity{.start_ticks = packed.start_ticks,
                          .end_ticks = packed.end_ticks,
                          .correlation = packed.correlation,
                          .kind = packed.kind,
                          .place = places_[packed.place]};
  if (packed.kind == DeviceActivityKind::kernel) {
    activity.launch = packed.detail;
  } else {
    activity.transfer = transfers_[packed.detail];
  }
  return activity;
}

}  // namespace tbtrace::recorder
