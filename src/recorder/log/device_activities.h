// Activities of devices in little memory: what many of them have in common is kept once.
// Owns its rows. One writer, or any number of readers. Any numbers are kept unchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "recorder/log/row_list.h"

namespace tbtrace::recorder {

enum class DeviceActivityKind : std::uint8_t { kernel, memcpy, memset };

/// Where an activity ran, and as which node of a graph.
struct DevicePlace {
  std::uint64_t graph_node = 0;  ///< 0: not of a graph
  std::uint32_t graph = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t channel = 0;
  std::uint8_t channel_type = 0;

  bool operator==(const DevicePlace&) const = default;
};
std::size_t hash_of(const DevicePlace& place);

/// What a memcpy copied or a memset set.
struct DeviceTransfer {
  std::uint64_t bytes = 0;
  std::uint32_t peers = 0;       ///< memcpys between devices: a row of DeviceTrace::peers, + 1
  std::uint8_t copy_kind = 0;    ///< CUpti_ActivityMemcpyKind
  std::uint8_t from_memory = 0;  ///< CUpti_ActivityMemoryKind
  std::uint8_t to_memory = 0;    ///< likewise; memsets: of what was set
};

/// A kernel, memcpy or memset on a stream of a device.
struct DeviceActivity {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t correlation = 0;  ///< of the call that made it
  DeviceActivityKind kind = DeviceActivityKind::kernel;
  DevicePlace place = {};
  std::uint32_t launch = 0;      ///< kernels: a row of DeviceTrace::launches
  DeviceTransfer transfer = {};  ///< all others
};

class DeviceActivities {
 public:
  std::size_t size() const { return rows_.size(); }
  /// Memory that the rows take.
  std::size_t bytes() const {
    return rows_.size() * sizeof(Row) + transfers_.size() * sizeof(DeviceTransfer);
  }
  void push_back(const DeviceActivity& activity);
  DeviceActivity operator[](std::size_t row) const;
  std::uint32_t correlation(std::size_t row) const { return rows_[row].correlation; }
  std::uint64_t start_ticks(std::size_t row) const { return rows_[row].start_ticks; }

 private:
  struct Row {
    std::uint64_t start_ticks;
    std::uint64_t end_ticks;
    std::uint32_t correlation;
    std::uint32_t place;
    std::uint32_t detail;  // kernels: the launch; others: a row of transfers
    DeviceActivityKind kind;
  };
  struct Hash {
    std::size_t operator()(const DevicePlace& place) const { return hash_of(place); }
  };

  std::uint32_t row_of(const DevicePlace& place);

  RowList<Row> rows_;
  std::deque<DevicePlace> places_;
  std::deque<DeviceTransfer> transfers_;
  std::unordered_map<DevicePlace, std::uint32_t, Hash> place_rows_;
  std::uint32_t last_place_ = 0;
};

}  // namespace tbtrace::recorder
