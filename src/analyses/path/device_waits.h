// What waits for device work: calls of the host, and work on other streams.
// Results are plain values. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

enum class WaitKind : std::uint8_t {
  synchronization,  ///< a call that returns when work has ended
  copy,             ///< a call that returns when its own copy, or blocking kernel, has ended
  full_queue,       ///< a launch that returns when earlier work has made room
  stream,           ///< work that starts when work on another stream has ended
  room,             ///< a kernel that starts when one on another stream leaves it room
};

struct DeviceWait {
  WaitKind kind = WaitKind::synchronization;
  EventId waits = EventId::none;  ///< a call, or for `stream` and `room` device work
  std::uint32_t until = 0;        ///< the work that has to end, by its number in the list of work
  bool is_by_time = false;  ///< no id says so: the work ended while it waited, after all others
};

/// The device work of a trace, with the order of its streams.
struct StreamOrder {
  explicit StreamOrder(const Trace& trace);

  std::span<const DeviceLink> work;                 ///< placed, by start
  std::vector<std::vector<std::uint32_t>> streams;  ///< by track: numbers of work, by start
  std::vector<std::uint32_t> by_end;                ///< numbers of work, by end
};

/// Waits of calls, in the order of the calls. Sources, in this order: the rows that CUPTI records
/// about synchronizations (`cuda_sync`), which name a stream; what a call does by its name; the
/// call's own copy. Where no id says which work a call waits for, it is the one that ended last
/// while it waited.
std::vector<DeviceWait> find_call_waits(const Trace& trace, const StreamOrder& order);

/// Waits of work for work on other streams. By rows of `cudaStreamWaitEvent`; without these, where
/// the program made such a call before the launch, by time.
std::vector<DeviceWait> find_stream_waits(const Trace& trace, const StreamOrder& order);

/// Kernels that could have started earlier, by their launch and their stream, but started when a
/// kernel on another stream of the device ended or had only its last blocks left.
std::vector<DeviceWait> find_room_waits(const Trace& trace, const StreamOrder& order);

}  // namespace tbtrace::analyses
