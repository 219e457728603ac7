#include "recorder/window/device_names.h"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace tbtrace::recorder {

namespace {

constexpr std::int64_t kWaitRows = 1'000'000;

/// CUpti_ActivityMemcpyKind, CUpti_ActivityMemoryKind, CUpti_ActivitySynchronizationType.
constexpr std::array<std::string_view, 11> kCopies = {
    "Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::array<std::string_view, 8> kMemories = {"Unknown",       "Pageable",      "Pinned",
                                                       "Device",        "Array",         "Managed",
                                                       "Device Static", "Managed Static"};
constexpr std::array<std::string_view, 5> kWaits = {"Unknown", "Event Sync", "Stream Wait Event",
                                                    "Stream Sync", "Context Sync"};
constexpr std::uint8_t kStreamWaitsForEvent = 2;
constexpr std::uint8_t kStreamIsWaitedFor = 3;

template <std::size_t kSize>
std::string_view name_in(const std::array<std::string_view, kSize>& names, std::size_t number) {
  return names[number < kSize ? number : 0];
}

}  // namespace

std::string transfer_name(DeviceActivityKind kind, const DeviceTransfer& transfer) {
  if (kind == DeviceActivityKind::memset) {
    return fmt::format("Memset ({})", name_in(kMemories, transfer.to_memory));
  }
  return fmt::format("Memcpy {} ({} -> {})", name_in(kCopies, transfer.copy_kind),
                     name_in(kMemories, transfer.from_memory),
                     name_in(kMemories, transfer.to_memory));
}

std::string_view wait_name(std::uint8_t kind) { return name_in(kWaits, kind); }

std::string_view overhead_name(std::uint32_t kind) {
  switch (kind) {
    case 1:
      return "Driver Compiler";
    case 1U << 16:
      return "Buffer Flush";
    case 2U << 16:
      return "Instrumentation";
    case 3U << 16:
      return "Resource";
    case 4U << 16:
      return "Runtime Triggered Module Loading";
    case 5U << 16:
      return "Lazy Function Loading";
    case 6U << 16:
      return "Command Buffer Full";
    case 7U << 16:
      return "Activity Buffer Request";
    case 8U << 16:
      return "UVM Activity Init";
    default:
      return "Unknown";
  }
}

bool is_wait_for_event(const DeviceSynchronization& wait) {
  return wait.kind == kStreamWaitsForEvent;
}

bool is_wait_for_stream(const DeviceSynchronization& wait) {
  return wait.kind == kStreamIsWaitedFor && wait.stream != DeviceSynchronization::kNoStream;
}

std::int64_t thread_of_wait(const DeviceSynchronization& wait) {
  if (wait.stream == DeviceSynchronization::kNoStream) return -1;
  return std::int64_t{wait.stream} + (is_wait_for_stream(wait) ? kWaitRows : 0);
}

std::unordered_map<std::uint32_t, std::uint32_t> devices_of_contexts(const DeviceTrace& trace) {
  std::unordered_map<std::uint32_t, std::uint32_t> devices;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const DevicePlace place = trace.activities[row].place;
    devices.try_emplace(place.context, place.device);
  }
  return devices;
}

std::uint32_t device_of(const std::unordered_map<std::uint32_t, std::uint32_t>& devices_of_contexts,
                        std::uint32_t context) {
  const auto found = devices_of_contexts.find(context);
  return found == devices_of_contexts.end() ? 0 : found->second;
}

}  // namespace tbtrace::recorder
