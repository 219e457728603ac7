#include "recorder/window/device_order.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "recorder/window/device_names.h"

namespace tbtrace::recorder {
namespace {

/// Row numbers from 0 to `rows` - 1, sorted by `start(row)`.
template <typename Start>
std::vector<std::uint32_t> by_start(std::size_t rows, const Start& start) {
  std::vector<std::uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); });
  return order;
}

}  // namespace

std::vector<std::uint32_t> calls_by_start(const DeviceTrace& trace) {
  return by_start(trace.calls.size(),
                  [&](std::uint32_t row) { return trace.calls[row].start_ticks; });
}

std::vector<std::uint32_t> activities_by_start(const DeviceTrace& trace) {
  return by_start(trace.activities.size(),
                  [&](std::uint32_t row) { return trace.activities.start_ticks(row); });
}

std::vector<bool> calls_with_activity(const DeviceTrace& trace, const DeviceLinks& links) {
  std::vector<bool> has_activity(trace.calls.size());
  for (const std::uint32_t call : links.activity_call) {
    if (call != DeviceLinks::kNone) has_activity[call] = true;
  }
  return has_activity;
}

std::map<std::pair<std::int64_t, std::int64_t>, std::string> stream_names(
    const DeviceTrace& trace) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const DevicePlace place = trace.activities[row].place;
    names.try_emplace({place.device, place.stream}, fmt::format("stream {} ", place.stream));
  }
  const auto devices = devices_of_contexts(trace);
  for (const DeviceSynchronization& wait : trace.synchronizations) {
    if (!is_wait_for_stream(wait)) continue;
    names.try_emplace({device_of(devices, wait.context), thread_of_wait(wait)},
                      fmt::format("stream {} (sync)", wait.stream));
  }
  return names;
}

}  // namespace tbtrace::recorder
