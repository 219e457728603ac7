#include "analyses/memory/walk.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

namespace tbtrace::analyses {
namespace {

std::string device_name(const MemoryRecord& record) {
  std::string name(device_type_key(record.device_type));
  if (record.device_id >= 0) name += ":" + std::to_string(record.device_id);
  return name;
}

}  // namespace

std::size_t WalkedDevice::records_until(std::int64_t time_ns) const {
  return static_cast<std::size_t>(
      std::ranges::upper_bound(curve, time_ns, {}, &MemoryPoint::at_ns) - curve.begin());
}

std::int64_t median_growth(std::vector<WideInteger> growth) {
  std::ranges::sort(growth);
  const std::size_t middle = growth.size() / 2;
  return bounded(growth.size() % 2 == 1 ? growth[middle]
                                        : (growth[middle - 1] + growth[middle]) / 2);
}

MemoryWalk::MemoryWalk(const Trace& trace, const std::optional<TimeRange>& window)
    : trace_(trace), window_(window) {
  find_devices();
  for (std::size_t device = 0; device < devices_.size(); ++device) draw_curve(device);
  for (WalkedDevice& device : devices_) find_peak(device);
  pair_records();
}

void MemoryWalk::find_devices() {
  using Key = std::tuple<std::int64_t, std::string_view, DeviceType, std::int16_t>;
  const auto key_of = [&](const MemoryRecord& record) {
    const TrackKey& process = trace_.track(record.track).process;
    return Key(process.number, trace_.string(process.text), record.device_type, record.device_id);
  };
  std::map<Key, std::size_t> numbers;
  for (const MemoryRecord& record : trace_.memory()) numbers.emplace(key_of(record), 0);
  std::size_t next = 0;
  for (auto& [key, number] : numbers) number = next++;
  devices_.resize(numbers.size());
  records_of_.resize(numbers.size());
  open_.resize(numbers.size());
  device_of_.reserve(trace_.memory().size());
  for (std::size_t row = 0; row < trace_.memory().size(); ++row) {
    const MemoryRecord& record = trace_.memory()[row];
    const std::size_t number = numbers.find(key_of(record))->second;
    device_of_.push_back(number);
    WalkedDevice& device = devices_[number];
    if (device.name.empty()) {
      device.process = trace_.track(record.track).process;
      device.type = record.device_type;
      device.name = device_name(record);
    }
    if (!record.out_of_memory) {
      records_of_[number].push_back(row);
    } else if (!window_ || (window_->start <= record.time_ns && record.time_ns < window_->end)) {
      ++device.out_of_memory;
    }
  }
}

void MemoryWalk::draw_curve(std::size_t number) {
  WalkedDevice& device = devices_[number];
  const std::vector<std::size_t>& rows = records_of_[number];
  const std::span<const MemoryRecord> records = trace_.memory();
  std::size_t with_total = 0;
  WideInteger sum = 0;
  for (const std::size_t row : rows) {
    sum += records[row].bytes;
    if (records[row].total_allocated_bytes < 0) continue;
    if (with_total++ == 0) device.before = WideInteger{records[row].total_allocated_bytes} - sum;
  }
  device.totals = with_total == rows.size() ? MemoryTotals::recorded
                  : with_total == 0         ? MemoryTotals::summed
                                            : MemoryTotals::mixed;
  const ArgumentColumn& reserved = trace_.memory_argument(Argument::total_reserved);
  bool reserves = false;
  device.curve.reserve(rows.size());
  WideInteger total = device.before;
  for (const std::size_t row : rows) {
    const MemoryRecord& record = records[row];
    total = record.total_allocated_bytes >= 0 ? WideInteger{record.total_allocated_bytes}
                                              : total + record.bytes;
    device.curve.push_back({record.time_ns, bounded(total), reserved.integer(row)});
    reserves = reserves || device.curve.back().reserved_bytes.value_or(0) > 0;
  }
  if (reserves) return;
  for (MemoryPoint& point : device.curve) point.reserved_bytes.reset();
}

std::span<const MemoryPoint> MemoryWalk::chosen_points(const WalkedDevice& device) const {
  const std::vector<MemoryPoint>& curve = device.curve;
  if (!window_) return curve;
  const auto first_from = [&](std::int64_t time) {
    return std::ranges::lower_bound(curve, time, {}, &MemoryPoint::at_ns);
  };
  const auto first = first_from(window_->start);
  return {first == curve.begin() ? first : std::prev(first), first_from(window_->end)};
}

void MemoryWalk::find_peak(WalkedDevice& device) const {
  const std::span<const MemoryPoint> points = chosen_points(device);
  const auto peak = std::ranges::max_element(points, {}, &MemoryPoint::allocated_bytes);
  if (peak != points.end()) device.peak = static_cast<std::size_t>(&*peak - device.curve.data());
}

void MemoryWalk::pair_records() {
  const ArgumentColumn& addresses = trace_.memory_argument(Argument::address);
  std::vector<std::size_t> places(devices_.size(), 0);
  for (std::size_t row = 0; row < trace_.memory().size(); ++row) {
    const MemoryRecord& record = trace_.memory()[row];
    if (record.out_of_memory) continue;
    const std::size_t device = device_of_[row];
    const std::size_t place = places[device]++;
    if (record.bytes == 0) continue;
    const std::optional<std::int64_t> address = addresses.integer(row);
    if (!address) ++without_address_;
    if (record.bytes > 0) {
      allocate(device, row, place, address);
    } else if (address) {
      free(device, row, place, *address);
    }
  }
}

void MemoryWalk::allocate(std::size_t device, std::size_t row, std::size_t place,
                          std::optional<std::int64_t> address) {
  const std::size_t number = allocations_.size();
  allocations_.push_back({.device = device,
                          .bytes = trace_.memory()[row].bytes,
                          .begin = place,
                          .allocated_by = row,
                          .how = address ? AllocationEnd::held : AllocationEnd::unknown});
  if (!address) return;
  const auto [entry, added] = open_[device].emplace(*address, number);
  if (added) return;
  allocations_[entry->second].how = AllocationEnd::unknown;
  allocations_[entry->second].end = place;
  entry->second = number;
}

void MemoryWalk::free(std::size_t device, std::size_t row, std::size_t place,
                      std::int64_t address) {
  const auto found = open_[device].find(address);
  if (found == open_[device].end()) {
    allocations_.push_back({.device = device,
                            .bytes = bounded(-WideInteger{trace_.memory()[row].bytes}),
                            .end = place,
                            .freed_by = row,
                            .how = AllocationEnd::freed});
    return;
  }
  WalkedAllocation& allocation = allocations_[found->second];
  allocation.end = place;
  allocation.freed_by = row;
  allocation.how = AllocationEnd::freed;
  open_[device].erase(found);
}

std::vector<WideInteger> MemoryWalk::from_before_at_peak() const {
  std::vector<WideInteger> bytes(devices_.size(), 0);
  for (std::size_t device = 0; device < devices_.size(); ++device) {
    if (devices_[device].peak) bytes[device] = devices_[device].before;
  }
  // What was allocated before is part of the first total until it is freed.
  for (const WalkedAllocation& allocation : allocations_) {
    const std::optional<std::size_t> peak = devices_[allocation.device].peak;
    if (peak && allocation.is_from_before() && allocation.end <= *peak) {
      bytes[allocation.device] -= allocation.bytes;
    }
  }
  for (WideInteger& of_device : bytes) of_device = std::max<WideInteger>(of_device, 0);
  return bytes;
}

std::vector<std::int64_t> MemoryWalk::step_ends(const WalkedDevice& device,
                                                const std::optional<StepRange>& steps) const {
  const Events& events = trace_.events();
  std::vector<std::int64_t> ends;
  for (const Step& step : trace_.steps()) {
    const TrackKey& process = trace_.track(events.track(step.event)).process;
    if (events.unfinished(step.event)) continue;  // its end is not the end of a step
    const bool is_chosen = !steps || steps->contains(step.number);
    if (is_chosen && process == device.process) ends.push_back(events.end_ns(step.event));
  }
  std::ranges::sort(ends);
  return ends;
}

}  // namespace tbtrace::analyses
