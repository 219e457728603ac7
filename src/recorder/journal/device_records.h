// Rows of devices as words: the records of a window's logs kDevices and kDeviceMemory, framed as
// journal/framed_records.h has it. Two numbers that share a word stand in it as low | high << 32.
// Rows of tables begin with their number, since some may be missing.
// Pure functions, any thread. Words that are read may be anything, and so may be what they give.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "recorder/log/device_memory.h"
#include "recorder/log/device_trace.h"

namespace tbtrace::recorder::journal {

enum class DeviceRecordKind : std::uint32_t {
  head = 1,  ///< all of a trace but its rows, in the order of bytes_of()
  counts,    ///< lost, untimed: so far
  name,      ///< number, and the text
  launch,    ///< of DeviceTrace::launches, as the following
  peers,
  function,
  place,  ///< of activities; only here a table of its own
  activity,
  outside_activity,  ///< not in the window's time; it may have begun it
  call,
  synchronization,
  event,
  overhead,
  marker,
  check,
};

enum class MemoryRecordKind : std::uint32_t {
  begin = 1,  ///< of another DeviceMemory
  start,      ///< what there is on a device before its first event
  event,
  lose,  ///< an event that there was no memory for
  gap,   ///< of this device, something is missing here
  close,
  end,  ///< what there is on a device after its last event
};

template <std::size_t kCount>
using Words = std::array<std::uint64_t, kCount>;

/// The words of a record's bytes; nothing if there are fewer. What follows them is of a later
/// version.
template <std::size_t kCount>
std::optional<Words<kCount>> words_in(std::string_view bytes) {
  Words<kCount> words;
  if (bytes.size() < sizeof words) return std::nullopt;
  __builtin_memcpy(words.data(), bytes.data(), sizeof words);
  return words;
}

constexpr std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
constexpr std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
constexpr std::int32_t low_signed(std::uint64_t word) {
  return static_cast<std::int32_t>(low(word));
}
constexpr std::int32_t high_signed(std::uint64_t word) {
  return static_cast<std::int32_t>(high(word));
}
template <typename Low, typename High>
constexpr std::uint64_t pair(Low low, High high) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
         static_cast<std::uint32_t>(low);
}

struct DeviceHead {
  bool is_whole = false;   ///< the trace is finished
  DeviceTrace trace = {};  ///< without rows
};
std::string bytes_of(const DeviceTrace& trace, bool is_whole);
std::optional<DeviceHead> read_head(std::string_view bytes);

/// A row of a table, and its number there.
template <typename Row>
struct Numbered {
  std::uint32_t number = 0;
  Row row = {};
};

Words<6> words_of(std::uint32_t number, const KernelLaunch& launch);
Numbered<KernelLaunch> launch_of(const Words<6>& words);
Words<3> words_of(std::uint32_t number, const DevicePeers& peers);
Numbered<DevicePeers> peers_of(const Words<3>& words);
Words<2> words_of(std::uint32_t number, const ApiFunction& function);
Numbered<ApiFunction> function_of(const Words<2>& words);
Words<5> words_of(std::uint32_t number, const DevicePlace& place);
Numbered<DevicePlace> place_of(const Words<5>& words);

/// Kernels have the first four words only. The place is not in it but its number is.
Words<6> words_of(const DeviceActivity& activity, std::uint32_t place);
inline constexpr std::size_t kKernelWords = 4;
Numbered<DeviceActivity> activity_of(const Words<6>& words);

Words<4> words_of(const ApiCall& call);
ApiCall call_of(const Words<4>& words);
Words<5> words_of(const DeviceSynchronization& wait);
DeviceSynchronization synchronization_of(const Words<5>& words);
Words<2> words_of(const DeviceEvent& event);
DeviceEvent event_of(const Words<2>& words);
Words<3> words_of(const DeviceOverhead& overhead);
DeviceOverhead overhead_of(const Words<3>& words);
Words<4> words_of(const DeviceMarker& marker);
DeviceMarker marker_of(const Words<4>& words);
Words<2> words_of(const DeviceCheck& check);
DeviceCheck check_of(const Words<2>& words);

/// What is said of a device; of kinds that say only its number, the first word is there.
struct MemoryRecord {
  int device = 0;
  AllocatorTotals totals = {};
  AllocatorEvent event = {};
  std::uint32_t log = kNoLog;  ///< its number
  std::uint64_t ticks = 0;

  static constexpr std::uint32_t kNoLog = 0xffffffff;  ///< the thread is not recorded
};
inline constexpr std::size_t kTotalsWords = 4;
inline constexpr std::size_t kMemoryWords = 8;
Words<kMemoryWords> words_of(const MemoryRecord& record);
MemoryRecord memory_record_of(const Words<kMemoryWords>& words);

}  // namespace tbtrace::recorder::journal
