// One window that is being recorded: its threads' logs, its clock, what it was asked to record.
// Owns the logs together with the threads that write them. Threads may be added at any time until
// close() or end_for_next(); after it any thread may read the recording, which does not change from
// the first reading on.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <tbtrace/status.h>

#include "recorder/log/address_map.h"
#include "recorder/log/device_memory.h"
#include "recorder/log/device_trace.h"
#include "recorder/log/known_tensors.h"
#include "recorder/log/recording_options.h"
#include "recorder/log/thread_log.h"
#include "recorder/log/ticks.h"
#include "recorder/log/window_journal.h"

namespace tbtrace::recorder {

/// Bytes of the blocks that are watched and alive, without those that running recordings have
/// counted.
extern std::atomic<std::int64_t> watched_bytes;

/// Records of threads that had no log because there was no memory for one. They count as lost in
/// all recordings that are running then.
extern std::atomic<std::uint64_t> lost_without_log;

/// A process that wrote a recording and is not this one.
struct OtherProcess {
  std::int64_t id = 0;
  std::string host = {};
  ClockSample first_sample = {};
  bool ended_within = false;      ///< the recording, which ends with the last sign of life
  std::int64_t last_sign_ns = 0;  ///< of life, since 1970
  AddressMap addresses = {};      ///< what its return addresses are in
};

/// A closed recording that another process wrote.
struct RestoredRecording {
  std::shared_ptr<const RecordingOptions> options = {};
  std::string trace_id = {};
  ClockSample started = {};
  ClockSample ended = {};
  std::int64_t bytes_at_start = 0;
  std::uint64_t lost = 0;            ///< records
  std::size_t unreadable_parts = 0;  ///< of the journal, which the logs do not have
  std::vector<std::shared_ptr<ThreadLog>> logs = {};
  std::map<std::string, std::string> metadata = {};
  std::vector<KnownTensor> known_tensors = {};
  std::shared_ptr<const DeviceTrace> device_trace = {};  ///< null: none was asked for
  std::vector<DeviceMemory> device_memory = {};
  OtherProcess process = {};
};

class Recording {
 public:
  /// With a journal, what is recorded outlasts the process.
  explicit Recording(RecordingOptions options, std::shared_ptr<WindowJournal> journal = nullptr);
  static std::shared_ptr<Recording> restored(RestoredRecording parts);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  const RecordingOptions& options() const { return *options_; }
  /// 32 hexadecimal digits that no other recording has.
  const std::string& trace_id() const { return trace_id_; }

  /// `bytes_at_start`: of the blocks that are watched and alive.
  void start(std::int64_t bytes_at_start);
  void start();
  /// Ends the recording. Cheap, however much was recorded; a second call does nothing.
  void close();
  /// The same where its threads go on with the next recording: what a thread is writing right now
  /// is still in this one.
  void end_for_next();
  bool is_closed() const;
  /// What its threads allocated and did not free. Once it is closed, watched_bytes includes it.
  std::int64_t memory_bytes() const;

  /// A log for the calling thread; null once the recording is closed.
  std::shared_ptr<ThreadLog> add_thread(ThreadIdentity identity);

  /// A member of the file, `value` being JSON. The last one of a name counts, also before what a
  /// recording says by itself, such as `host_name`. Refused, with the reason, are members without
  /// which the file cannot be read, and all that come after close().
  Status add_metadata(const std::string& key, std::string value_json);

  /// Says what the program's tensors are at this moment.
  void add_known_tensors(std::vector<KnownTensor> tensors);

  /// Where its device rows and its device memory's events are kept beside the process; null:
  /// nowhere.
  std::shared_ptr<DeviceJournal> device_journal() const;
  std::shared_ptr<DeviceMemoryJournal> device_memory_journal() const;

  /// Sets what devices did during the recording. Call it before close().
  void set_device_trace(PendingDeviceTrace trace);

  /// Adds what a device's allocator did during a part of the recording. Call it before close().
  void add_device_memory(DeviceMemory memory);

  /// Its file is written, so that its journal, if there is one, need not keep it.
  void forget_journal() const;
  /// Its file could not be written: its journal keeps it, also after the recording is gone.
  void keep_journal() const;

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
  /// Null: this process wrote it.
  const OtherProcess* other_process() const { return other_ ? &*other_ : nullptr; }
  /// Memory that was watched and alive at the start.
  std::int64_t bytes_at_start() const { return bytes_at_start_; }
  /// Records for which there was no memory.
  std::uint64_t lost() const;
  /// Parts of the journal that it was restored from which are damaged, and not in its logs.
  std::size_t unreadable_parts() const { return unreadable_parts_; }
  /// Memory that its records take. Grows once the devices' records have come.
  std::size_t bytes() const;

 private:
  void end(bool closes_logs);

  struct IsRestored {};
  Recording(IsRestored, RestoredRecording parts);

  std::shared_ptr<const RecordingOptions> options_;
  std::shared_ptr<WindowJournal> journal_;
  std::optional<OtherProcess> other_;
  std::string trace_id_;
  ClockSample started_;
  ClockSample ended_;
  std::int64_t bytes_at_start_ = 0;
  std::int64_t bytes_at_end_ = 0;    // that its threads allocated and did not free
  std::uint64_t lost_at_start_ = 0;  // of lost_without_log, as the next one
  std::uint64_t lost_at_end_ = 0;
  std::size_t unreadable_parts_ = 0;
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
