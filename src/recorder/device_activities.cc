#include "recorder/device_works.h"

#include "base/hash.h"

namespace tbtrace::recorder {

std::size_t DeviceWorks::Hash::operator()(const DevicePlace& place) const {
  const auto word = [](std::uint32_t high, std::uint32_t low) {
    return std::uint64_t{high} << 32 | low;
  };
  std::uint64_t hash = hash_integer(place.graph_node, place.channel_type);
  hash = hash_integer(word(place.graph, place.device), hash);
  hash = hash_integer(word(place.context, place.stream), hash);
  return hash_integer(place.channel, hash);
}

/// Works come in rows from one stream.
std::uint32_t DeviceWorks::row_of(const DevicePlace& place) {
  if (!places_.empty() && places_[last_place_] == place) return last_place_;
  const auto known = place_rows_.find(place);
  if (known != place_rows_.end()) return last_place_ = known->second;
  const auto row = static_cast<std::uint32_t>(places_.size());
  places_.push_back(place);
  place_rows_.emplace(place, row);
  return last_place_ = row;
}

/// Without memory, wherever that is, rows stay what they were.
void DeviceWorks::push_back(const DeviceWork& work) {
  std::uint32_t detail = work.launch;
  if (work.kind != DeviceWorkKind::kernel) {
    detail = static_cast<std::uint32_t>(transfers_.size());
    transfers_.push_back(work.transfer);
  }
  const std::uint32_t place = row_of(work.place);
  rows_.push_back({.start_ticks = work.start_ticks,
                   .end_ticks = work.end_ticks,
                   .correlation = work.correlation,
                   .place = place,
                   .detail = detail,
                   .kind = work.kind});
}

DeviceWork DeviceWorks::operator[](std::size_t row) const {
  const Row& packed = rows_[row];
  DeviceWork work{.start_ticks = packed.start_ticks,
                  .end_ticks = packed.end_ticks,
                  .correlation = packed.correlation,
                  .kind = packed.kind,
                  .place = places_[packed.place]};
  if (packed.kind == DeviceWorkKind::kernel) {
    work.launch = packed.detail;
  } else {
    work.transfer = transfers_[packed.detail];
  }
  return work;
}

}  // namespace tbtrace::recorder
