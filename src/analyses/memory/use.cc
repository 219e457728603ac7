// Curves, pairs of allocations and frees, and what was alive at the peaks.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <tbtrace/memory.h>

#include "analyses/memory/sources.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

constexpr std::size_t kNever = SIZE_MAX;

struct Sum {
  WideInteger bytes = 0;
  std::uint64_t allocations = 0;
};

/// What was allocated at the peak.
struct Held {
  std::optional<std::size_t> place;  // of the peak; none without points
  std::map<std::size_t, Sum> by_source;
  WideInteger freed_from_before = 0;
};

/// What is needed of a device besides its result. A record's place is its index in the curve.
struct DeviceState {
  TrackKey process;
  WideInteger before = 0;  // allocated when the recording began; 0 if no total is recorded
  std::unordered_map<std::int64_t, std::size_t> open;  // address -> index of the allocation
  std::vector<std::size_t> records;                    // but for allocations that failed
  Held held;
};

/// Places of an allocation in its device's curve.
struct Lifetime {
  std::size_t begin = kNever;  // kNever: before the recording
  std::size_t end = kNever;    // of the free, or of the next allocation of the same address
};

class MemoryAnalysis {
 public:
  /// `window`: the time of the chosen steps.
  MemoryAnalysis(const Trace& trace, const std::optional<StepRange>& steps,
                 const std::optional<TimeRange>& window)
      : trace_(trace), steps_(steps), window_(window), records_(trace.memory()), sources_(trace) {}

  MemoryUse run() {
    find_devices();
    for (std::size_t device = 0; device < use_.devices.size(); ++device) draw_curve(device);
    pair_records();
    name_sources();
    for (std::size_t device = 0; device < use_.devices.size(); ++device) find_peak(device);
    for (std::size_t allocation = 0; allocation < use_.allocations.size(); ++allocation) {
      hold_at_peak(allocation);
    }
    for (std::size_t device = 0; device < use_.devices.size(); ++device) {
      finish_peak(device);
      find_growth(device);
    }
    use_.sources = sources_.take();
    if (window_) leave_out_other_times();
    order_allocations();
    return std::move(use_);
  }

 private:
  void find_devices() {
    using Key = std::tuple<std::int64_t, std::string_view, DeviceType, std::int16_t>;
    const auto key_of = [&](const MemoryRecord& record) {
      const TrackKey& process = trace_.track(record.track).process;
      return Key(process.number, trace_.string(process.text), record.device_type, record.device_id);
    };
    std::map<Key, std::size_t> numbers;
    for (const MemoryRecord& record : records_) numbers.emplace(key_of(record), 0);
    std::size_t next = 0;
    for (auto& [key, number] : numbers) number = next++;
    use_.devices.resize(numbers.size());
    states_.resize(numbers.size());
    device_of_.reserve(records_.size());
    for (std::size_t row = 0; row < records_.size(); ++row) {
      const MemoryRecord& record = records_[row];
      const std::size_t number = numbers.find(key_of(record))->second;
      device_of_.push_back(number);
      DeviceMemory& device = use_.devices[number];
      if (device.device.empty()) {
        states_[number].process = trace_.track(record.track).process;
        device.process = key_text(trace_, states_[number].process);
        device.device = device_type_key(record.device_type);
        if (record.device_id >= 0) {
          device.device += ':';
          device.device += std::to_string(record.device_id);
        }
      }
      if (record.out_of_memory) {
        device.out_of_memory += is_chosen(record.time_ns) ? 1 : 0;
      } else {
        states_[number].records.push_back(row);
      }
    }
  }

  void draw_curve(std::size_t number) {
    DeviceMemory& device = use_.devices[number];
    WideInteger& before = states_[number].before;
    const std::vector<std::size_t>& rows = states_[number].records;
    std::size_t with_total = 0;
    WideInteger sum = 0;
    for (const std::size_t row : rows) {
      sum += records_[row].bytes;
      if (records_[row].total_allocated_bytes < 0) continue;
      if (with_total++ == 0) before = WideInteger{records_[row].total_allocated_bytes} - sum;
    }
    device.totals = with_total == rows.size() ? MemoryTotals::recorded
                    : with_total == 0         ? MemoryTotals::summed
                                              : MemoryTotals::mixed;
    const ArgumentColumn& reserved = trace_.memory_argument(Argument::total_reserved);
    bool reserves = false;
    device.curve.reserve(rows.size());
    WideInteger total = before;
    for (const std::size_t row : rows) {
      const MemoryRecord& record = records_[row];
      total = record.total_allocated_bytes >= 0 ? WideInteger{record.total_allocated_bytes}
                                                : total + record.bytes;
      device.curve.push_back({record.time_ns, bounded(total), reserved.integer(row)});
      reserves = reserves || device.curve.back().reserved_bytes.value_or(0) > 0;
    }
    if (reserves) return;
    for (MemoryPoint& point : device.curve) point.reserved_bytes.reset();
  }

  void pair_records() {
    const ArgumentColumn& addresses = trace_.memory_argument(Argument::address);
    std::vector<std::size_t> places(use_.devices.size(), 0);
    for (std::size_t row = 0; row < records_.size(); ++row) {
      const MemoryRecord& record = records_[row];
      if (record.out_of_memory) continue;
      const std::size_t device = device_of_[row];
      const std::size_t place = places[device]++;
      if (record.bytes == 0) continue;
      const std::optional<std::int64_t> address = addresses.integer(row);
      if (!address) ++use_.without_address;
      if (record.bytes > 0) {
        allocate(device, row, place, address);
      } else if (address) {
        free(device, row, place, *address);
      }
    }
  }

  void allocate(std::size_t device, std::size_t row, std::size_t place,
                std::optional<std::int64_t> address) {
    const std::size_t number = add(
        {.device = device, .bytes = records_[row].bytes, .allocated_at_ns = records_[row].time_ns},
        {.begin = place}, row);
    if (!address) {
      use_.allocations[number].end = AllocationEnd::unknown;
      return;
    }
    const auto [entry, added] = states_[device].open.emplace(*address, number);
    if (added) return;
    use_.allocations[entry->second].end = AllocationEnd::unknown;
    lifetimes_[entry->second].end = place;
    entry->second = number;
  }

  void free(std::size_t device, std::size_t row, std::size_t place, std::int64_t address) {
    const auto found = states_[device].open.find(address);
    const std::int64_t time = records_[row].time_ns;
    if (found == states_[device].open.end()) {
      add({.device = device,
           .bytes = bounded(-WideInteger{records_[row].bytes}),
           .freed_at_ns = time,
           .end = AllocationEnd::freed},
          {.end = place}, row);
      return;
    }
    MemoryAllocation& allocation = use_.allocations[found->second];
    allocation.freed_at_ns = time;
    allocation.end = AllocationEnd::freed;
    lifetimes_[found->second].end = place;
    freed_by_[found->second] = row;
    states_[device].open.erase(found);
  }

  std::size_t add(const MemoryAllocation& allocation, Lifetime lifetime, std::size_t row) {
    use_.allocations.push_back(allocation);
    lifetimes_.push_back(lifetime);
    allocated_by_.push_back(row);
    freed_by_.push_back(kNever);
    return use_.allocations.size() - 1;
  }

  void name_sources() {
    for (std::size_t number = 0; number < use_.allocations.size(); ++number) {
      if (lifetimes_[number].begin == kNever) continue;
      const std::size_t freed = freed_by_[number];
      use_.allocations[number].source = sources_.number(
          allocated_by_[number], freed == kNever ? std::nullopt : std::optional(freed),
          use_.allocations[number].end);
    }
  }

  bool is_chosen(std::int64_t time) const {
    return !window_ || (window_->start <= time && time < window_->end);
  }

  /// The points of the chosen time, with the last one before it.
  std::span<const MemoryPoint> chosen_points(const std::vector<MemoryPoint>& curve) const {
    if (!window_) return curve;
    const auto first_from = [&](std::int64_t time) {
      return std::lower_bound(
          curve.begin(), curve.end(), time,
          [](const MemoryPoint& point, std::int64_t at) { return point.at_ns < at; });
    };
    const auto first = first_from(window_->start);
    return {first == curve.begin() ? first : std::prev(first), first_from(window_->end)};
  }

  void find_peak(std::size_t number) {
    DeviceMemory& device = use_.devices[number];
    const std::span<const MemoryPoint> points = chosen_points(device.curve);
    const auto peak = std::max_element(points.begin(), points.end(),
                                       [](const MemoryPoint& a, const MemoryPoint& b) {
                                         return a.allocated_bytes < b.allocated_bytes;
                                       });
    if (peak == points.end()) return;
    states_[number].held.place = static_cast<std::size_t>(&*peak - device.curve.data());
    device.peak_bytes = peak->allocated_bytes;
    device.peak_at_ns = window_ ? std::max(peak->at_ns, window_->start) : peak->at_ns;
    for (const MemoryPoint& point : points) {
      device.peak_reserved_bytes = std::max(device.peak_reserved_bytes, point.reserved_bytes);
    }
    if (peak->reserved_bytes) {
      device.fragmentation_bytes =
          bounded(WideInteger{*peak->reserved_bytes} - peak->allocated_bytes);
    }
  }

  /// Adds an allocation to what its device held at the peak.
  void hold_at_peak(std::size_t number) {
    const MemoryAllocation& allocation = use_.allocations[number];
    const Lifetime& lifetime = lifetimes_[number];
    Held& held = states_[allocation.device].held;
    if (!held.place) return;
    if (lifetime.begin == kNever) {  // allocated before, so it is part of the first total
      if (lifetime.end <= *held.place) held.freed_from_before += allocation.bytes;
      return;
    }
    const bool alive = lifetime.begin <= *held.place && lifetime.end > *held.place;
    // Without an address the end is unknown, and so is whether it was alive.
    const bool ends_unseen = allocation.end == AllocationEnd::unknown && lifetime.end == kNever;
    if (!alive || ends_unseen) return;
    Sum& sum = held.by_source[*allocation.source];
    sum.bytes += allocation.bytes;
    ++sum.allocations;
  }

  void finish_peak(std::size_t number) {
    DeviceMemory& device = use_.devices[number];
    const Held& held = states_[number].held;
    if (!held.place) return;
    WideInteger rest = device.peak_bytes;
    const std::vector<MemorySource>& sources = sources_.known();
    for (const auto& [source, sum] : held.by_source) {
      device.alive.push_back({sources[source], bounded(sum.bytes), sum.allocations});
      rest -= sum.bytes;
    }
    const WideInteger before =
        std::max<WideInteger>(states_[number].before - held.freed_from_before, 0);
    rest -= before;
    if (before != 0) device.alive.push_back({{.op = DeviceMemory::kBefore}, bounded(before), 0});
    if (rest != 0) device.alive.push_back({{.op = DeviceMemory::kUnknown}, bounded(rest), 0});
    std::stable_sort(
        device.alive.begin(), device.alive.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
          return std::tie(b.bytes, a.source.op, a.source.module, a.source.line, a.source.category) <
                 std::tie(a.bytes, b.source.op, b.source.module, b.source.line, b.source.category);
        });
  }

  void find_growth(std::size_t number) {
    DeviceMemory& device = use_.devices[number];
    const Events& events = trace_.events();
    std::vector<std::int64_t> ends;
    for (const Step& step : trace_.steps()) {
      const TrackKey& process = trace_.track(events.track(step.event)).process;
      const bool is_chosen = !steps_ || steps_->contains(step.number);
      if (is_chosen && process == states_[number].process)
        ends.push_back(events.end_ns(step.event));
    }
    if (ends.size() < 2 || device.curve.empty()) return;
    std::sort(ends.begin(), ends.end());
    std::vector<WideInteger> growth;
    WideInteger last = 0;
    for (const std::int64_t end : ends) {
      const auto next = std::upper_bound(
          device.curve.begin(), device.curve.end(), end,
          [](std::int64_t time, const MemoryPoint& point) { return time < point.at_ns; });
      const WideInteger bytes = next == device.curve.begin()
                                    ? states_[number].before
                                    : WideInteger{std::prev(next)->allocated_bytes};
      growth.push_back(bytes - last);
      device.step_end_bytes.push_back(bounded(bytes));
      last = bytes;
    }
    growth.erase(growth.begin());
    std::sort(growth.begin(), growth.end());
    const std::size_t middle = growth.size() / 2;
    device.growth_per_step_bytes = bounded(
        growth.size() % 2 == 1 ? growth[middle] : (growth[middle - 1] + growth[middle]) / 2);
  }

  /// Whether an allocation was held in any of the chosen time, as far as is known.
  bool is_held_in_window(std::size_t number) const {
    const MemoryAllocation& allocation = use_.allocations[number];
    const Lifetime& lifetime = lifetimes_[number];
    const std::vector<MemoryPoint>& curve = use_.devices[allocation.device].curve;
    if (lifetime.begin != kNever && curve[lifetime.begin].at_ns >= window_->end) return false;
    if (lifetime.end != kNever) return curve[lifetime.end].at_ns >= window_->start;
    return allocation.end == AllocationEnd::held ||
           curve[lifetime.begin].at_ns >= window_->start;  // the end is not known
  }

  void leave_out_other_times() {
    std::vector<MemoryAllocation> held;
    for (std::size_t number = 0; number < use_.allocations.size(); ++number) {
      if (is_held_in_window(number)) held.push_back(use_.allocations[number]);
    }
    use_.allocations = std::move(held);
    for (DeviceMemory& device : use_.devices) {
      std::erase_if(device.curve,
                    [&](const MemoryPoint& point) { return !is_chosen(point.at_ns); });
    }
  }

  void order_allocations() {
    const auto time = [](const MemoryAllocation& allocation) {
      return allocation.allocated_at_ns ? *allocation.allocated_at_ns : *allocation.freed_at_ns;
    };
    std::stable_sort(
        use_.allocations.begin(), use_.allocations.end(),
        [&](const MemoryAllocation& a, const MemoryAllocation& b) { return time(a) < time(b); });
  }

  const Trace& trace_;
  const std::optional<StepRange> steps_;
  const std::optional<TimeRange> window_;
  std::span<const MemoryRecord> records_;
  analyses::MemorySources sources_;
  MemoryUse use_;
  std::vector<DeviceState> states_;     // by device
  std::vector<std::size_t> device_of_;  // by record
  std::vector<Lifetime> lifetimes_;     // by allocation, like the next two vectors
  std::vector<std::size_t> allocated_by_;
  std::vector<std::size_t> freed_by_;
};

}  // namespace

Result<MemoryUse> memory_use(const Trace& trace, const MemoryUseOptions& options) {
  const Result<std::optional<TimeRange>> window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  return MemoryAnalysis(trace, options.steps, *window).run();
}

}  // namespace tbtrace
