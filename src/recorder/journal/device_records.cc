#include "recorder/journal/device_records.h"

#include <algorithm>
#include <type_traits>

#include "recorder/journal/fields.h"

namespace tbtrace::recorder::journal {

namespace {

/// Calls `each(member)` for all numbers of the device, in the order of their fields.
template <typename Device, typename Each>
void for_each_number(Device& device, Each&& each) {
  each(device.id);
  each(device.total_memory_bytes);
  each(device.compute_major);
  each(device.compute_minor);
  each(device.max_threads_per_block);
  each(device.max_threads_per_multiprocessor);
  each(device.max_blocks_per_multiprocessor);
  each(device.registers_per_block);
  each(device.registers_per_multiprocessor);
  each(device.warp_size);
  each(device.shared_bytes_per_block);
  each(device.shared_bytes_per_block_optin);
  each(device.shared_bytes_per_multiprocessor);
  each(device.reserved_shared_bytes_per_block);
  each(device.multiprocessors);
}
constexpr std::size_t kDeviceFields = 16;  // with the name

}  // namespace

std::string bytes_of(const DeviceTrace& trace, bool is_whole) {
  FieldWriter fields;
  fields.put(is_whole).put(trace.interface_version).put(trace.driver_version);
  fields.put(trace.runtime_version).put(trace.lost).put(trace.untimed).put(trace.problem);
  fields.put(trace.devices.size());
  for (const DeviceProperties& device : trace.devices) {
    fields.put(device.name);
    for_each_number(device, [&](const auto& number) { fields.put(number); });
  }
  return std::string(fields.bytes());
}

std::optional<DeviceHead> read_head(std::string_view bytes) {
  FieldReader fields(bytes);
  DeviceHead head;
  head.is_whole = fields.number<bool>();
  DeviceTrace& trace = head.trace;
  trace.interface_version = fields.number<std::uint32_t>();
  trace.driver_version = fields.number<int>();
  trace.runtime_version = fields.number<int>();
  trace.lost = fields.number<std::uint64_t>();
  trace.untimed = fields.number<std::uint64_t>();
  trace.problem = fields.text();
  trace.devices.resize(fields.count(kDeviceFields * sizeof(std::uint64_t)));
  for (DeviceProperties& device : trace.devices) {
    device.name = fields.text();
    for_each_number(device, [&](auto& number) {
      number = fields.number<std::remove_reference_t<decltype(number)>>();
    });
  }
  if (!fields.ok()) return std::nullopt;
  return head;
}

// Tables.

Words<6> words_of(std::uint32_t number, const KernelLaunch& launch) {
  return {pair(number, launch.name),
          pair(launch.grid[0], launch.grid[1]),
          pair(launch.grid[2], launch.block[0]),
          pair(launch.block[1], launch.block[2]),
          pair(launch.registers_per_thread, launch.static_shared_bytes),
          pair(launch.dynamic_shared_bytes, 0)};
}
Numbered<KernelLaunch> launch_of(const Words<6>& words) {
  return {.number = low(words[0]),
          .row = {.name = high(words[0]),
                  .grid = {low_signed(words[1]), high_signed(words[1]), low_signed(words[2])},
                  .block = {high_signed(words[2]), low_signed(words[3]), high_signed(words[3])},
                  .registers_per_thread = low(words[4]),
                  .static_shared_bytes = high_signed(words[4]),
                  .dynamic_shared_bytes = low_signed(words[5])}};
}

Words<3> words_of(std::uint32_t number, const DevicePeers& peers) {
  return {pair(number, 0), pair(peers.from_device, peers.from_context),
          pair(peers.to_device, peers.to_context)};
}
Numbered<DevicePeers> peers_of(const Words<3>& words) {
  return {.number = low(words[0]),
          .row = {.from_device = low(words[1]),
                  .from_context = high(words[1]),
                  .to_device = low(words[2]),
                  .to_context = high(words[2])}};
}

Words<2> words_of(std::uint32_t number, const ApiFunction& function) {
  return {pair(number, function.name),
          pair(function.number, static_cast<std::uint32_t>(function.library))};
}
Numbered<ApiFunction> function_of(const Words<2>& words) {
  return {.number = low(words[0]),
          .row = {.number = low(words[1]),
                  .name = high(words[0]),
                  .library = high(words[1]) == 0 ? ApiLibrary::runtime : ApiLibrary::driver}};
}

Words<5> words_of(std::uint32_t number, const DevicePlace& place) {
  return {pair(number, 0), place.graph_node, pair(place.graph, place.device),
          pair(place.context, place.stream), pair(place.channel, place.channel_type)};
}
Numbered<DevicePlace> place_of(const Words<5>& words) {
  return {.number = low(words[0]),
          .row = {.graph_node = words[1],
                  .graph = low(words[2]),
                  .device = high(words[2]),
                  .context = low(words[3]),
                  .stream = high(words[3]),
                  .channel = low(words[4]),
                  .channel_type = static_cast<std::uint8_t>(high(words[4]))}};
}

// Rows.

Words<6> words_of(const DeviceActivity& activity, std::uint32_t place) {
  const DeviceTransfer& transfer = activity.transfer;
  return {activity.start_ticks,
          activity.end_ticks,
          pair(activity.correlation, place),
          pair(activity.launch, static_cast<std::uint32_t>(activity.kind)),
          transfer.bytes,
          pair(transfer.peers,
               transfer.copy_kind | transfer.from_memory << 8 | transfer.to_memory << 16)};
}
Numbered<DeviceActivity> activity_of(const Words<6>& words) {
  const std::uint32_t kinds = high(words[5]);
  return {.number = high(words[2]),
          .row = {.start_ticks = words[0],
                  .end_ticks = words[1],
                  .correlation = low(words[2]),
                  .kind = static_cast<DeviceActivityKind>(high(words[3])),
                  .launch = low(words[3]),
                  .transfer = {.bytes = words[4],
                               .peers = low(words[5]),
                               .copy_kind = static_cast<std::uint8_t>(kinds),
                               .from_memory = static_cast<std::uint8_t>(kinds >> 8),
                               .to_memory = static_cast<std::uint8_t>(kinds >> 16)}}};
}

Words<4> words_of(const ApiCall& call) {
  return {call.start_ticks, call.end_ticks, pair(call.thread, call.correlation),
          pair(call.function, 0)};
}
ApiCall call_of(const Words<4>& words) {
  return {.start_ticks = words[0],
          .end_ticks = words[1],
          .thread = low(words[2]),
          .correlation = high(words[2]),
          .function = low(words[3])};
}

Words<5> words_of(const DeviceSynchronization& wait) {
  return {wait.start_ticks, wait.end_ticks, pair(wait.context, wait.stream),
          pair(wait.correlation, wait.event), pair(wait.kind, 0)};
}
DeviceSynchronization synchronization_of(const Words<5>& words) {
  return {.start_ticks = words[0],
          .end_ticks = words[1],
          .context = low(words[2]),
          .stream = high(words[2]),
          .correlation = low(words[3]),
          .event = high(words[3]),
          .kind = static_cast<std::uint8_t>(low(words[4]))};
}

Words<2> words_of(const DeviceEvent& event) {
  return {pair(event.correlation, event.context), pair(event.stream, event.event)};
}
DeviceEvent event_of(const Words<2>& words) {
  return {.correlation = low(words[0]),
          .context = high(words[0]),
          .stream = low(words[1]),
          .event = high(words[1])};
}

Words<3> words_of(const DeviceOverhead& overhead) {
  return {overhead.start_ticks, overhead.end_ticks, pair(overhead.kind, 0)};
}
DeviceOverhead overhead_of(const Words<3>& words) {
  return {.start_ticks = words[0], .end_ticks = words[1], .kind = low(words[2])};
}

Words<4> words_of(const DeviceMarker& marker) {
  return {marker.start_ticks, marker.end_ticks, pair(marker.thread, marker.name),
          pair(marker.domain, 0)};
}
DeviceMarker marker_of(const Words<4>& words) {
  return {.start_ticks = words[0],
          .end_ticks = words[1],
          .thread = low(words[2]),
          .name = high(words[2]),
          .domain = low(words[3])};
}

Words<2> words_of(const DeviceCheck& check) {
  return {check.begin_ticks, pair(check.correlation, 0)};
}
DeviceCheck check_of(const Words<2>& words) {
  return {.correlation = low(words[1]), .begin_ticks = words[0]};
}

// Memory.

Words<kMemoryWords> words_of(const MemoryRecord& record) {
  const AllocatorTotals& totals = record.totals;
  return {pair(record.device, static_cast<std::uint32_t>(record.event.kind)),
          static_cast<std::uint64_t>(totals.allocated),
          static_cast<std::uint64_t>(totals.active),
          static_cast<std::uint64_t>(totals.reserved),
          record.ticks,
          record.event.address,
          static_cast<std::uint64_t>(record.event.requested),
          pair(record.log, 0)};
}
MemoryRecord memory_record_of(const Words<kMemoryWords>& words) {
  const int device = low_signed(words[0]);
  constexpr auto kOther = static_cast<std::uint32_t>(AllocatorEvent::Kind::other);
  const std::uint32_t kind = std::min(high(words[0]), kOther);
  return {.device = device,
          .totals = {.allocated = static_cast<std::int64_t>(words[1]),
                     .active = static_cast<std::int64_t>(words[2]),
                     .reserved = static_cast<std::int64_t>(words[3])},
          .event = {.kind = static_cast<AllocatorEvent::Kind>(kind),
                    .device = device,
                    .address = words[5],
                    .requested = static_cast<std::int64_t>(words[6])},
          .log = low(words[7]),
          .ticks = words[4]};
}

}  // namespace tbtrace::recorder::journal
