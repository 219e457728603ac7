// One window that is being recorded: its threads' logs, its clock, what it was asked to record.
// Owns the logs together with the threads that write them. Threads may be added at any time until
// close(); after it the recording does not change and any thread may read it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

#include "recorder/log/device_memory.h"
#include "recorder/log/device_trace.h"
#include "recorder/log/known_tensors.h"
#include "recorder/log/recording_options.h"
#include "recorder/log/thread_log.h"
#include "recorder/log/ticks.h"

namespace tbtrace::recorder {

/// Bytes of the blocks that are watched and alive, but for what recordings that go on have counted.
extern std::atomic<std::int64_t> watched_bytes;

/// Records of threads that had no log, since there was no memory for one. They count as lost in all
/// recordings that are going on then.
extern std::atomic<std::uint64_t> lost_without_log;

class Recording {
 public:
  explicit Recording(RecordingOptions options);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  const RecordingOptions& options() const { return *options_; }
  /// 32 hexadecimal digits that no other recording has.
  const std::string& trace_id() const { return trace_id_; }

  void start();
  /// Ends it. Cheap, whatever was recorded; a second call does nothing.
  void close();
  bool is_closed() const;
  /// What its threads allocated and did not free, until it is closed: then it is in watched_bytes.
  std::int64_t memory_bytes() const;

  /// A log for the calling thread; null once the recording is closed.
  std::shared_ptr<ThreadLog> add_thread(ThreadIdentity identity);

  /// A member of the file, `value` being JSON. The last one of a name counts, also before what a
  /// recording says by itself, such as `host_name`. Refused, with the reason, are members without
  /// which the file cannot be read, and all that come after close().
  Status add_metadata(const std::string& key, std::string value_json);

  /// What the program's tensors are, now.
  void add_known_tensors(std::vector<KnownTensor> tensors);

  /// What devices do in its time; before close().
  void set_device_trace(PendingDeviceTrace trace);

  /// What a device's allocator did in a part of its time; before close().
  void add_device_memory(DeviceMemory memory);

  // Of a closed recording.
  const std::vector<std::shared_ptr<ThreadLog>>& logs() const { return logs_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::vector<KnownTensor>& known_tensors() const { return known_tensors_; }  ///< by time
  const ClockSample& started() const { return started_; }
  const ClockSample& ended() const { return ended_; }
  /// Waits until the devices' records have come. Null: none were asked for, or the process is a
  /// fork of the one that has them.
  std::shared_ptr<const DeviceTrace> device_trace() const;
  /// Whether anything was asked of devices, and known of them.
  bool has_devices() const { return device_trace_.valid() || !device_memory_.empty(); }
  const std::vector<DeviceMemory>& device_memory() const { return device_memory_; }  ///< by time
  /// Memory that was watched and alive at the start.
  std::int64_t bytes_at_start() const { return bytes_at_start_; }
  /// Records for which there was no memory.
  std::uint64_t lost() const;
  /// Memory that its records take. Grows once the devices' records have come.
  std::size_t bytes() const;

 private:
  std::shared_ptr<const RecordingOptions> options_;
  std::string trace_id_;
  ClockSample started_;
  ClockSample ended_;
  std::int64_t bytes_at_start_ = 0;
  std::uint64_t lost_at_start_ = 0;  // of lost_without_log, as the next one
  std::uint64_t lost_at_end_ = 0;
  PendingDeviceTrace device_trace_;
  std::vector<DeviceMemory> device_memory_;
  std::uint64_t forks_;  // fork_count() of the process whose threads device activity comes from

  mutable std::mutex mutex_;  // what follows
  bool closed_ = false;
  std::vector<std::shared_ptr<ThreadLog>> logs_;
  std::map<std::string, std::string> metadata_;
  std::vector<KnownTensor> known_tensors_;
};

}  // namespace tbtrace::recorder
