#include "analyses/timeline/counters.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <tbtrace/memory.h>

#include "analyses/timeline/tracks.h"
#include "base/hash.h"
#include "base/natural_order.h"
#include "trace/event_batch.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kMostPoints = 2000;

/// Numbers of the points that remain, ascending.
std::vector<std::size_t> kept_points(const std::vector<MemoryPoint>& curve) {
  std::vector<std::size_t> kept;
  // Three for each span.
  const std::size_t spans = curve.size() <= kMostPoints ? curve.size() : kMostPoints / 3;
  for (std::size_t span = 0; span < spans; ++span) {
    const std::size_t begin = span * curve.size() / spans;
    const std::size_t end = (span + 1) * curve.size() / spans;
    std::array<std::size_t, 3> points = {begin, begin, end - 1};
    for (std::size_t at = begin; at < end; ++at) {
      if (curve[at].allocated_bytes < curve[points[0]].allocated_bytes) points[0] = at;
      if (curve[at].allocated_bytes > curve[points[1]].allocated_bytes) points[1] = at;
    }
    std::sort(points.begin(), points.end());
    kept.insert(kept.end(), points.begin(), std::unique(points.begin(), points.end()));
  }
  return kept;
}

/// One series of a counter of a process.
struct SeriesKey {
  TrackKey process;
  StringId name;
  StringId series;
  bool operator==(const SeriesKey&) const = default;
};

struct SeriesHash {
  std::size_t operator()(const SeriesKey& key) const {
    const std::uint64_t texts =
        static_cast<std::uint64_t>(key.name) << 32 | static_cast<std::uint64_t>(key.series);
    const std::uint64_t process = static_cast<std::uint64_t>(key.process.number) ^
                                  static_cast<std::uint64_t>(key.process.text) << 32;
    return hash_integer(texts, process);
  }
};

struct Sample {
  std::int64_t time_ns;
  double value;
};

struct Series {
  SeriesKey key;
  std::string process;
  std::string name;
  std::vector<Sample> samples;
};

/// Those in the part, and the one that holds where it begins.
void keep_part(std::vector<Sample>& samples, std::int64_t from_ns, std::int64_t to_ns) {
  const auto end = std::ranges::lower_bound(samples, to_ns, {}, &Sample::time_ns);
  samples.erase(end, samples.end());
  const auto after = std::ranges::upper_bound(samples, from_ns, {}, &Sample::time_ns);
  if (after != samples.begin()) samples.erase(samples.begin(), after - 1);
}

/// The first, the lowest, the highest and the last of each span of time.
std::vector<Sample> thinned(const std::vector<Sample>& samples, std::size_t spans) {
  if (samples.size() <= 4 * spans) return samples;
  std::vector<Sample> kept;
  const std::int64_t first_ns = samples.front().time_ns;
  const double scale =
      static_cast<double>(spans) / (static_cast<double>(samples.back().time_ns - first_ns) + 1);
  const auto span_of = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<double>(samples[at].time_ns - first_ns) * scale);
  };
  for (std::size_t begin = 0; begin < samples.size();) {
    std::array<std::size_t, 4> points = {begin, begin, begin, begin};
    const std::size_t span = span_of(begin);
    std::size_t end = begin;
    for (; end < samples.size() && span_of(end) == span; ++end) {
      if (samples[end].value < samples[points[1]].value) points[1] = end;
      if (samples[end].value > samples[points[2]].value) points[2] = end;
      points[3] = end;
    }
    std::ranges::sort(points);
    const auto distinct = std::unique(points.begin(), points.end());
    for (auto point = points.begin(); point != distinct; ++point) kept.push_back(samples[*point]);
    begin = end;
  }
  return kept;
}

std::vector<Series> recorded_series(const Trace& trace) {
  std::vector<Series> all;
  std::unordered_map<SeriesKey, std::size_t, SeriesHash> numbers;
  for (const CounterValue& each : counter_values_of(trace)) {
    const SeriesKey key = {each.process, each.name, each.series};
    const auto [place, is_new] = numbers.try_emplace(key, all.size());
    if (is_new) all.push_back({.key = key, .process = {}, .name = {}, .samples = {}});
    all[place->second].samples.push_back({since_start(trace, each.time_ns), each.value});
  }
  const TrackKey* process = nullptr;  // whose label was made last
  std::string label;
  for (Series& one : all) {
    std::ranges::stable_sort(one.samples, {}, &Sample::time_ns);
    if (process == nullptr || *process != one.key.process) {
      process = &one.key.process;
      label = process_label(trace, *process);
    }
    one.process = label;
    one.name = trace.string(one.key.name);
    const std::string_view series = trace.string(one.key.series);
    if (series.empty() || series == "value" || series == one.name) continue;
    one.name += ": " + std::string(series);
  }
  std::ranges::stable_sort(all, [](const Series& one, const Series& other) {
    if (one.process != other.process) return in_natural_order(one.process, other.process);
    return in_natural_order(one.name, other.name);
  });
  return all;
}

void add_recorded(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns,
                  TimelineCounters& made) {
  constexpr std::size_t kMostCounters = 200;
  constexpr std::size_t kManyCounters = 16;
  std::vector<Series> all = recorded_series(trace);
  const std::size_t spans = all.size() > kManyCounters ? 500 : 4000;
  if (all.size() > kMostCounters) {
    made.left_out = all.size() - kMostCounters;
    all.resize(kMostCounters);
  }
  for (Series& one : all) {
    keep_part(one.samples, from_ns, to_ns);
    if (one.samples.empty()) continue;
    TimelineCounter& counter = made.counters.emplace_back();
    counter.name = one.name;
    counter.process = one.process;
    counter.samples = one.samples.size();
    for (const Sample& sample : thinned(one.samples, spans)) {
      counter.times_ns.push_back(sample.time_ns);
      counter.values.push_back(sample.value);
    }
  }
}

void add_memory(const Trace& trace, std::vector<TimelineCounter>& counters) {
  if (trace.memory().empty()) return;
  const Result<MemoryUse> use = memory_use(trace);
  if (!use.ok()) return;
  const bool has_processes = std::ranges::any_of(use->devices, [&](const DeviceMemory& device) {
    return device.process != use->devices.front().process;
  });
  for (const DeviceMemory& device : use->devices) {
    if (device.curve.empty()) continue;
    TimelineCounter& counter = counters.emplace_back();
    counter.name = "allocated on " + device.device;
    if (has_processes) counter.name += ", process " + device.process;
    counter.is_bytes = true;
    counter.samples = device.curve.size();
    for (const std::size_t point : kept_points(device.curve)) {
      counter.times_ns.push_back(since_start(trace, device.curve[point].at_ns));
      counter.values.push_back(static_cast<double>(device.curve[point].allocated_bytes));
    }
  }
}

}  // namespace

TimelineCounters timeline_counters(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns) {
  TimelineCounters made;
  add_memory(trace, made.counters);
  add_recorded(trace, from_ns, to_ns, made);
  return made;
}

}  // namespace tbtrace::analyses
