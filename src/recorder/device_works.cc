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
  const auto row = static_cast<std::uint32_t>(places_.size());
  const auto [found, is_new] = place_rows_.try_emplace(place, row);
  if (is_new) places_.push_back(place);
  return last_place_ = found->second;
}

void DeviceWorks::push_back(const DeviceWork& work) {
  const bool is_kernel = work.kind == DeviceWorkKind::kernel;
  const std::uint32_t place = row_of(work.place);
  rows_.push_back(
      {.start_ticks = work.start_ticks,
       .end_ticks = work.end_ticks,
       .correlation = work.correlation,
       .place = place,
       .detail = is_kernel ? work.launch : static_cast<std::uint32_t>(transfers_.size()),
       .kind = work.kind});
  if (!is_kernel) transfers_.push_back(work.transfer);
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
