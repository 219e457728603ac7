// Where rows of devices are kept beside their recording, so that they outlast the process.
// Each object is for one thread at a time. Nothing throws or waits for anything slow: what there is
// no room for is counted as lost. What a call hands over need not outlive the call.
#pragma once

#include <cstdint>
#include <string_view>

#include "recorder/log/device_activities.h"

namespace tbtrace::recorder {

struct AllocatorEvent;
struct AllocatorTotals;
struct ApiCall;
struct ApiFunction;
struct DeviceCheck;
struct DeviceEvent;
struct DeviceMarker;
struct DeviceOverhead;
struct DevicePeers;
struct DeviceSynchronization;
struct DeviceTrace;
struct KernelLaunch;
class ThreadLog;

/// To keep the rows of a DeviceTrace elsewhere, implement this and hand it to whoever traces. Rows
/// of tables have their number there, and come before the rows that refer to them.
class DeviceJournal {
 public:
  virtual ~DeviceJournal() = default;

  /// All but the rows of the trace, as far as it is known when the first row may come.
  virtual void begin(const DeviceTrace& known) noexcept = 0;
  /// The same at the end: no row follows.
  virtual void end(const DeviceTrace& whole) noexcept = 0;
  /// Records that the trace lacks, so far.
  virtual void count(std::uint64_t lost, std::uint64_t untimed) noexcept = 0;

  virtual void add_name(std::uint32_t number, std::string_view name) noexcept = 0;
  virtual void add_launch(std::uint32_t number, const KernelLaunch& launch) noexcept = 0;
  virtual void add_peers(std::uint32_t number, const DevicePeers& peers) noexcept = 0;
  virtual void add_function(std::uint32_t number, const ApiFunction& function) noexcept = 0;

  virtual void add(const DeviceActivity& activity) noexcept = 0;
  /// One outside of the window's time, which belongs to the trace if a call in it began it.
  virtual void add_outside(const DeviceActivity& activity) noexcept = 0;
  virtual void add(const ApiCall& call) noexcept = 0;
  virtual void add(const DeviceSynchronization& wait) noexcept = 0;
  virtual void add(const DeviceEvent& event) noexcept = 0;
  virtual void add(const DeviceOverhead& overhead) noexcept = 0;
  virtual void add(const DeviceMarker& marker) noexcept = 0;
  virtual void add(const DeviceCheck& check) noexcept = 0;
};

/// To keep what a DeviceMemory is made of elsewhere, implement this and hand it to the object. The
/// same calls of another one give the same events.
class DeviceMemoryJournal {
 public:
  virtual ~DeviceMemoryJournal() = default;

  /// What follows is of another DeviceMemory.
  virtual void begin() noexcept = 0;
  virtual void start(int device, const AllocatorTotals& totals) noexcept = 0;
  virtual void add(const AllocatorEvent& told, const AllocatorTotals& totals, std::uint64_t ticks,
                   const ThreadLog* log) noexcept = 0;
  virtual void lose(int device) noexcept = 0;
  virtual void close() noexcept = 0;
  virtual void end(int device, const AllocatorTotals& totals) noexcept = 0;
};

}  // namespace tbtrace::recorder
