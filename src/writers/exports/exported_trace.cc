#include "writers/exports/exported_trace.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <tbtrace/device.h>

#include "analyses/timeline/timeline.h"
#include "base/hash.h"
#include "trace/event_batch.h"

namespace tbtrace::writers {
namespace {

std::string device_name(const MemoryRecord& record) {
  std::string name = device_type_key(record.device_type);
  if (record.device_type != DeviceType::cpu && record.device_id >= 0) {
    name += ":" + std::to_string(record.device_id);
  }
  return name;
}

/// The totals of the allocator; records without one add their size to the total before.
void add_memory(const Trace& trace, std::vector<ExportedCounter>& counters) {
  const std::span<const MemoryRecord> records = trace.memory();
  std::vector<std::size_t> order(records.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return records[at].time_ns; });
  const ArgumentColumn& reserved = trace.memory_argument(Argument::total_reserved);
  struct Device {
    std::size_t allocated;
    std::optional<std::size_t> reserved;
    std::int64_t total = 0;
  };
  std::map<std::tuple<std::int64_t, StringId, DeviceType, std::int16_t>, Device> devices;
  const auto new_counter = [&](const char* what, const MemoryRecord& record) {
    counters.push_back({.name = what + device_name(record),
                        .process = trace.track(record.track).process,
                        .is_bytes = true,
                        .values = {}});
    return counters.size() - 1;
  };
  for (const std::size_t at : order) {
    const MemoryRecord& record = records[at];
    if (record.out_of_memory) continue;
    const TrackKey& process = trace.track(record.track).process;
    const auto [place, is_new] = devices.try_emplace(
        {process.number, process.text, record.device_type, record.device_id}, Device{});
    Device& device = place->second;
    if (is_new) device.allocated = new_counter("allocated on ", record);
    device.total = record.total_allocated_bytes >= 0 ? record.total_allocated_bytes
                                                     : device.total + record.bytes;
    counters[device.allocated].values.push_back(
        {record.time_ns, static_cast<double>(device.total)});
    const std::optional<std::int64_t> bytes = reserved.integer(at);
    if (!bytes || *bytes <= 0) continue;
    if (!device.reserved) device.reserved = new_counter("reserved on ", record);
    counters[*device.reserved].values.push_back({record.time_ns, static_cast<double>(*bytes)});
  }
}

void add_recorded(const Trace& trace, std::vector<ExportedCounter>& counters) {
  struct Key {
    TrackKey process;
    StringId name;
    StringId series;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return hash_integer(
          static_cast<std::uint64_t>(key.name) << 32 | static_cast<std::uint64_t>(key.series),
          EventBatch::TrackHash::number(key.process));
    }
  };
  const std::size_t first = counters.size();
  std::unordered_map<Key, std::size_t, Hash> numbers;
  for (const CounterValue& each : counter_values_of(trace)) {
    const auto [place, is_new] =
        numbers.try_emplace({each.process, each.name, each.series}, counters.size());
    if (is_new) {
      ExportedCounter& counter = counters.emplace_back();
      counter.name = trace.string(each.name);
      counter.process = each.process;
      const std::string_view series = trace.string(each.series);
      if (!series.empty() && series != "value" && series != counter.name) {
        counter.name += ": " + std::string(series);
      }
    }
    counters[place->second].values.push_back({each.time_ns, each.value});
  }
  for (std::size_t number = first; number < counters.size(); ++number) {
    std::ranges::stable_sort(counters[number].values, {}, &ExportedCounter::Value::time_ns);
  }
}

std::int64_t first_time(const ExportedTrace& of) {
  std::optional<std::int64_t> first;
  const auto see = [&](std::int64_t time_ns) {
    first = std::min(first.value_or(time_ns), time_ns);
  };
  if (of.trace.events().size() > 0) see(of.trace.events().start_ns(of.trace.by_start().front()));
  for (const Instant& instant : instants_of(of.trace)) see(instant.time_ns);
  for (const MemoryRecord& record : of.trace.memory()) see(record.time_ns);
  for (const ExportedCounter& counter : of.counters) {
    if (!counter.values.empty()) see(counter.values.front().time_ns);
  }
  return first.value_or(of.trace.window_start_ns());
}

}  // namespace

std::vector<ExportedCounter> exported_counters(const Trace& trace) {
  std::vector<ExportedCounter> counters;
  add_memory(trace, counters);
  add_recorded(trace, counters);
  return counters;
}

ExportedTrace::ExportedTrace(const Trace& of, std::string_view called)
    : trace(of), name(called), prefix(name.empty() ? "" : name + ": ") {
  tracks = analyses::timeline_tracks(trace);
  std::ranges::stable_sort(tracks, {}, [](const analyses::TimelineTrack& track) {
    return track.kind == analyses::TimelineTrackKind::stream;
  });
  events = analyses::drawing_order(trace, tracks);
  counters = exported_counters(trace);
  first_ns = first_time(*this);
  if (trace.identity().start_ns) wall_ns = trace.base_time_ns();
  is_merged = !trace.check_not_merged().ok();
}

}  // namespace tbtrace::writers
