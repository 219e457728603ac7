// Rows and memory events of devices from what a dead process left of a window.
// For one thread. Files may be damaged or hostile: rows that refer to what is not there, or that
// have impossible numbers, are left out and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "recorder/journal/device_records.h"
#include "recorder/log/device_memory.h"
#include "recorder/log/device_trace.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::recorder::journal {

class RestoredDevices {
 public:
  /// Of the log kDevices, in the order of writing. False: a part of it cannot be read.
  bool add(const std::uint64_t* words, std::size_t count);
  /// Null: devices were not traced. To be called once.
  std::shared_ptr<const DeviceTrace> take();

 private:
  void add(DeviceRecordKind kind, std::string_view bytes);
  void add_name(std::string_view bytes);
  void add_launch(Numbered<KernelLaunch> launch);
  void add_function(Numbered<ApiFunction> function);
  void add_activity(DeviceRecordKind kind, std::string_view bytes);
  template <typename Table, typename Row>
  bool place(Table& table, std::uint32_t number, const Row& row, const Row& missing);
  template <typename List, typename Row>
  void keep(List& list, Row row, bool is_sound = true);

  DeviceTrace trace_;
  DeviceActivities outside_;
  std::vector<DevicePlace> places_;
  std::vector<std::size_t> missing_launches_;
  std::vector<std::size_t> missing_functions_;
  std::size_t most_missing_ = std::size_t{1} << 20;  ///< rows of tables, of those that may still be
  std::uint64_t left_out_ = 0;
  bool has_records_ = false;
  bool is_whole_ = false;
  bool is_readable_ = true;
};

class RestoredDeviceMemory {
 public:
  using Logs = std::map<std::uint64_t, std::shared_ptr<ThreadLog>>;  ///< by number

  /// Events refer to the logs, which the recording keeps.
  explicit RestoredDeviceMemory(const Logs& logs) : logs_(logs) {}

  /// As RestoredDevices::add().
  bool add(const std::uint64_t* words, std::size_t count);
  std::uint64_t last_ticks() const { return last_ticks_; }
  /// Events that are left out.
  std::uint64_t lost() const { return lost_; }
  std::vector<DeviceMemory> take();

 private:
  bool add(MemoryRecordKind kind, std::string_view bytes);
  void add_event(const MemoryRecord& record);

  const Logs& logs_;
  std::vector<DeviceMemory> parts_;
  std::uint64_t last_ticks_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace tbtrace::recorder::journal
