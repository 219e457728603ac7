// What devices did in one recording, and which calls of the program made them: rows as a driver's
// own tracing tells them, in the recorder's clock.
// Owns its rows and texts. Filled by one thread; then immutable, so any thread may read it.
// Rows are in no order. Numbers are the driver's: nothing is checked here.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "recorder/log/device_activities.h"
#include "recorder/log/row_list.h"

namespace tbtrace::recorder {

/// Properties of a device, as the driver tells them. Members are named after CUDA's attributes.
struct DeviceProperties {
  std::uint32_t id = 0;
  std::string name;
  std::uint64_t total_memory_bytes = 0;
  int compute_major = 0;
  int compute_minor = 0;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int max_blocks_per_multiprocessor = 0;
  int registers_per_block = 0;
  int registers_per_multiprocessor = 0;
  int warp_size = 0;
  int shared_bytes_per_block = 0;
  int shared_bytes_per_block_optin = 0;
  int shared_bytes_per_multiprocessor = 0;
  int reserved_shared_bytes_per_block = 0;
  int multiprocessors = 0;
};

/// What a kernel is launched with.
struct KernelLaunch {
  std::uint32_t name = 0;  ///< of DeviceTrace::names
  std::array<std::int32_t, 3> grid = {};
  std::array<std::int32_t, 3> block = {};
  std::uint32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;

  bool operator==(const KernelLaunch&) const = default;
};

/// Of a copy from one device to another.
struct DevicePeers {
  std::uint32_t from_device = 0;
  std::uint32_t from_context = 0;
  std::uint32_t to_device = 0;
  std::uint32_t to_context = 0;
};

enum class ApiLibrary : std::uint8_t { runtime, driver };

/// A function of the runtime or driver.
struct ApiFunction {
  std::uint32_t number = 0;  ///< the library's own, CUPTI's `cbid`
  std::uint32_t name = 0;    ///< of DeviceTrace::names
  ApiLibrary library = ApiLibrary::runtime;
};

/// A call of one on a thread of the program.
struct ApiCall {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t thread = 0;  ///< of the operating system
  std::uint32_t correlation = 0;
  std::uint32_t function = 0;  ///< a row of DeviceTrace::functions
};

/// The program or a stream waited: how long, and for what.
struct DeviceSynchronization {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;  ///< kNoStream: of no stream
  std::uint32_t correlation = 0;
  std::uint32_t event = 0;  ///< kNoEvent: none
  std::uint8_t kind = 0;    ///< CUpti_ActivitySynchronizationType

  static constexpr std::uint32_t kNoStream = 0xffffffff;
  static constexpr std::uint32_t kNoEvent = 0xffffffff;
};

/// A CUDA event that was recorded into a stream.
struct DeviceEvent {
  std::uint32_t correlation = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t event = 0;
};

/// Time that tracing itself took.
struct DeviceOverhead {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t kind = 0;  ///< CUpti_ActivityOverheadKind
};

/// A range of the program's own in NVTX.
struct DeviceMarker {
  std::uint64_t start_ticks = 0;
  std::uint64_t end_ticks = 0;
  std::uint32_t thread = 0;
  std::uint32_t name = 0;    ///< of DeviceTrace::names
  std::uint32_t domain = 0;  ///< likewise; 0: the default one
};

/// The operator of a call as the driver was told it, to check what the times say.
struct DeviceCheck {
  std::uint32_t correlation = 0;
  std::uint64_t begin_ticks = 0;  ///< of the innermost range of the calling thread
};

struct DeviceTrace {
  std::vector<DeviceProperties> devices = {};
  std::vector<std::string> names = {""};
  std::deque<KernelLaunch> launches = {};
  DeviceActivities activities = {};
  std::deque<DevicePeers> peers = {};
  std::vector<ApiFunction> functions = {};
  RowList<ApiCall> calls = {};
  std::deque<DeviceSynchronization> synchronizations = {};
  std::deque<DeviceEvent> events = {};
  std::deque<DeviceOverhead> overheads = {};
  std::deque<DeviceMarker> markers = {};
  std::deque<DeviceCheck> checks = {};
  std::uint64_t lost = 0;               ///< records that the driver dropped
  std::uint64_t untimed = 0;            ///< records without times, dropped here
  std::uint32_t interface_version = 0;  ///< CUPTI's; 0: nothing was traced
  int driver_version = 0;               ///< as cuDriverGetVersion() has it: 13000
  int runtime_version = 0;              ///< 0: not known
  /// Why there is nothing, or not all; empty: nothing is missing.
  std::string problem = {};
};

/// What is known once the device has finished the work of the recording.
using PendingDeviceTrace = std::shared_future<std::shared_ptr<const DeviceTrace>>;

/// Adds the activities outside of a window's time that a call in `rows` began.
void add_begun(DeviceTrace& rows, const DeviceActivities& outside);

/// Without the rows that had ended before or began later, unless a call between the two began them.
/// Rows of tables stay.
DeviceTrace rows_between(const DeviceTrace& trace, std::uint64_t from, std::uint64_t to);

}  // namespace tbtrace::recorder
